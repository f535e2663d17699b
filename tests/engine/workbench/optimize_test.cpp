/// The whole search on the real emulator, with the real skills and memories.
#include "engine/memory/long_term_memory.h"
#include "tests/engine/workbench/workbench_fixture.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::ResultOf;

std::string logOf(const Optimization& found) {
    std::string log;
    for (const Attempt& attempt : found.attempts) {
        log += std::to_string(attempt.round) + " " + std::to_string(attempt.from) + " " +
               attempt.plan.offer.skillId + " " + attempt.plan.why + " " + attempt.decision + "\n";
        if (attempt.verdict) {
            for (const Check& check : attempt.verdict->checks)
                log += check.name + " " + check.detail + "\n";
        }
        log += attempt.diff;
    }
    return log + found.stopText + found.diff;
}

class OptimizeTest : public kernelskill::testing::WorkbenchFixture {
protected:
    OptimizeTest() { options_.seed = testSeed(); }
    Optimization optimize(const std::string& file, const std::string& memoryName = "k.cu") {
        const ProgramSource source = program(sourceFile(file));
        const ShortTermMemory memory(folder_.path(), folder_.path() / memoryName);
        auto found = workbench_->advisor().optimize({source, source.model->kernels.at(0)}, options_,
                                                    memory, std::stop_token{}, {});
        EXPECT_TRUE(found) << found.error().describe();
        return found ? std::move(*found) : Optimization{};
    }
    /// Opens it as a new process would: only the disk's contents are known.
    void restart() { workbench_ = std::make_unique<Workbench>(options(), bench_.toolchain); }

    OptimizationOptions options_;
};

TEST_F(OptimizeTest, TheConflictsOfATransposeAreRemovedAndTheSumIsVerified) {
    const Optimization found = optimize("examples/naive/transpose.cu");
    ASSERT_TRUE(found.isImproved()) << logOf(found);
    EXPECT_THAT(found.skills, Contains("shared-memory-padding"));
    EXPECT_EQ(found.verdict->status, VerdictStatus::Unmeasured);
    EXPECT_FALSE(found.verdict->speedup) << "it was not measured";
    EXPECT_TRUE(std::ranges::all_of(found.verdict->checks, &Check::passed));
    EXPECT_GT(*found.modelledGain, 1);
    EXPECT_THAT(found.diff, HasSubstr("+"));
    EXPECT_EQ(found.executor, "emulator");
}

// Programs often include the files of their kernels.
TEST_F(OptimizeTest, AKernelInAHeaderIsEditedThere) {
    std::string text = sourceFile("examples/naive/transpose.cu");
    const auto begin = text.find("constexpr int TILE") == std::string::npos
                           ? text.find("__global__")
                           : text.find("constexpr int TILE");
    const auto end = text.find("\n}\n", begin) + 3;
    const std::string kernel = text.substr(begin, end - begin);
    text.replace(begin, end - begin, "#include \"transpose_kernel.cuh\"\n");
    const auto path = folder_.path() / "transpose.cu";
    const auto header = folder_.path() / "transpose_kernel.cuh";
    std::ofstream(header) << kernel;
    std::ofstream(path) << text;
    ProgramSource source{path.string(), text, {}, bench_.command, nullptr};
    auto model = analysis::analyzeFile(path, text, bench_.command, bench_.toolchain);
    ASSERT_TRUE(model) << model.error().describe();
    source.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    ASSERT_EQ(source.model->kernels.at(0).file, header.string());
    const ShortTermMemory memory(folder_.path(), path);
    const auto found = workbench_->advisor().optimize({source, source.model->kernels.at(0)},
                                                      options_, memory, std::stop_token{}, {});
    ASSERT_TRUE(found) << found.error().describe();
    ASSERT_TRUE(found->isImproved()) << logOf(*found);
    EXPECT_THAT(found->skills, Contains("shared-memory-padding"));
    ASSERT_TRUE(found->edits.contains(header.string())) << found->diff;
    const auto after = analysis::applyEdits(kernel, found->edits.at(header.string()));
    ASSERT_TRUE(after);
    EXPECT_THAT(*after, HasSubstr("[TILE + 1]"));
    EXPECT_THAT(found->diff, HasSubstr("transpose_kernel.cuh"));
}

// The file with the kernel is open, and is read as a part of the one that launches it.
TEST_F(OptimizeTest, TheLaunchInTheIncluderFollows) {
    std::string text = sourceFile("examples/naive/matvec.cu");
    const auto begin = text.find("__global__");
    const auto end = text.find("\n}\n", begin) + 3;
    const std::string kernel = text.substr(begin, end - begin);
    text.replace(begin, end - begin, "#include \"matvec_kernel.cu\"\n");
    const auto includer = folder_.path() / "matvec.cu";
    const auto path = folder_.path() / "matvec_kernel.cu";
    std::ofstream(path) << "// Its text on disk is another one.\n";
    std::ofstream(includer) << text;
    ProgramSource source{path.string(), kernel, {}, bench_.command, nullptr};
    source.command.includer = includer.string();
    auto model = analysis::analyzeFile(path, kernel, source.command, bench_.toolchain);
    ASSERT_TRUE(model) << model.error().describe();
    source.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    ASSERT_EQ(source.model->kernels.at(0).launches.size(), 1u);
    options_.rounds = 1;
    options_.beam = 1;
    const ShortTermMemory memory(folder_.path(), path);
    const auto found = workbench_->advisor().optimize({source, source.model->kernels.at(0)},
                                                      options_, memory, std::stop_token{}, {});
    ASSERT_TRUE(found) << found.error().describe();
    ASSERT_TRUE(found->isImproved()) << logOf(*found);
    ASSERT_TRUE(found->edits.contains(path.string())) << found->diff;
    EXPECT_TRUE(analysis::applyEdits(kernel, found->edits.at(path.string())));
    ASSERT_TRUE(found->edits.contains(includer.string())) << found->diff;
    const auto host = analysis::applyEdits(text, found->edits.at(includer.string()));
    ASSERT_TRUE(host);
    EXPECT_THAT(*host, ::testing::Not(HasSubstr("(rows + 127) / 128, 128>>>")));
}

TEST_F(OptimizeTest, ASecondRunRepeatsNoPlanAndEndsWhereTheFirstDid) {
    const Optimization first = optimize("examples/naive/transpose.cu");
    restart();
    const Optimization second = optimize("examples/naive/transpose.cu");
    EXPECT_EQ(second.skills, first.skills);
    EXPECT_EQ(second.diff, first.diff);
    for (const Attempt& attempt : second.attempts)
        EXPECT_TRUE(attempt.isRemembered || !attempt.verdict) << attempt.plan.offer.skillId;
    const auto dropped = [](const Optimization& found) {
        std::vector<CandidateDiagnosis> causes;
        for (const Attempt& attempt : found.attempts)
            if (attempt.diagnosis)
                causes.push_back(*attempt.diagnosis);
        return causes;
    };
    EXPECT_FALSE(dropped(first).empty());
    EXPECT_EQ(dropped(second), dropped(first)) << "why a plan was dropped is remembered too";
}

TEST_F(OptimizeTest, TheSameSeedGivesTheSameLog) {
    options_.usesLongTermMemory = false;
    options_.rounds = 2;
    const std::string first = logOf(optimize("examples/naive/transpose.cu", "one.cu"));
    workbench_.reset();
    std::filesystem::remove_all(folder_.path() / ".kernelskill");
    restart();
    EXPECT_EQ(logOf(optimize("examples/naive/transpose.cu", "one.cu")), first);
}

TEST_F(OptimizeTest, PrecisionIsNotLoweredUnasked) {
    options_.rounds = 1;
    const Optimization found = optimize("examples/naive/gelu.cu");
    const auto skillOf = [](const auto& each) { return each.plan.offer.skillId; };
    EXPECT_THAT(found.attempts, Each(ResultOf(skillOf, Ne("fast-math-intrinsics"))));
    ASSERT_FALSE(found.attempts.empty());
    EXPECT_THAT(found.attempts[0].ruledOut,
                Contains(AllOf(Field(&RuledOut::skill, "fast-math-intrinsics"),
                               Field(&RuledOut::why, HasSubstr("lower-precision")))));
}

TEST_F(OptimizeTest, OutcomesEnterLongTermMemoryAndTheSwitchesKeepThemOut) {
    options_.rounds = 1;
    options_.usesLongTermMemory = false;
    options_.usesShortTermMemory = false;
    optimize("examples/naive/transpose.cu");
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / ".kernelskill"));
    const auto outcomes = [&] {
        auto memory = LongTermMemory::open(longTermMemoryFile(folder_.path() / "data"));
        EXPECT_TRUE(memory);
        return memory->outcomes().value_or(std::vector<Outcome>{});
    };
    EXPECT_TRUE(outcomes().empty());
    options_.usesLongTermMemory = true;
    const Optimization found = optimize("examples/naive/transpose.cu");
    const auto recorded = outcomes();
    ASSERT_EQ(recorded.size(), found.attempts.size());
    for (const Outcome& outcome : recorded) {
        EXPECT_EQ(outcome.architecture, emulatedArchitecture);
        EXPECT_FALSE(outcome.speedup) << "a model is no evidence";
    }
}

TEST_F(OptimizeTest, ASearchKilledBehindAVerdictJudgesItNeverAgain) {
    const ShortTermMemory memory(folder_.path(), folder_.path() / "k.cu");
    const auto verdicts = [&] {
        std::vector<MemoryEntry> found;
        if (const auto contents = memory.read())
            std::ranges::copy_if(
                contents->entries, std::back_inserter(found),
                [](const MemoryEntry& entry) { return entry.kind == EntryKind::Verdict; });
        return found;
    };
    options_.slots = 1; // One review after the other,
    workbench_.reset(); // and no thread or open database goes into the child.
    const pid_t child = ::fork();
    if (child == 0) {
        restart();
        optimize("examples/naive/transpose.cu");
        ::_exit(0);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (verdicts().empty() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it had ended by itself";
    const auto known = verdicts();
    ASSERT_FALSE(known.empty());
    restart();
    const Optimization found = optimize("examples/naive/transpose.cu");
    EXPECT_TRUE(found.isImproved());
    for (const MemoryEntry& entry : known) {
        EXPECT_TRUE(std::ranges::any_of(found.attempts, [&](const Attempt& attempt) {
            return attempt.isRemembered && attempt.plan.offer.skillId == entry.skill;
        })) << entry.skill;
    }
    std::set<std::tuple<std::uint64_t, std::string, int, std::uint64_t>> judged;
    for (const MemoryEntry& entry : verdicts())
        EXPECT_TRUE(
            judged.insert({entry.kernelHash, entry.skill, entry.option, entry.resultHash}).second)
            << entry.skill << " was judged twice";
    EXPECT_GT(judged.size(), known.size()) << "and the search went on";
}

TEST_F(OptimizeTest, AKilledSearchLeavesWholeMemoriesAndTheNextGoesOn) {
    const auto memoryFile = folder_.path() / ".kernelskill" / "memory" / "k.cu.jsonl";
    const auto lines = [&] {
        std::ifstream stream(memoryFile);
        return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
    };
    std::ptrdiff_t seen = 0;
    for (int round = 0; round < 4; ++round) {
        workbench_.reset(); // The child must not inherit threads or an open database.
        const pid_t child = ::fork();
        if (child == 0) {
            restart();
            optimize("examples/naive/transpose.cu");
            ::_exit(0);
        }
        // Killed as soon as it has written something new.
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        int status = 0;
        while (lines() == seen && ::waitpid(child, &status, WNOHANG) == 0 &&
               std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        const auto contents = ShortTermMemory(folder_.path(), folder_.path() / "k.cu").read();
        ASSERT_TRUE(contents);
        EXPECT_LE(contents->problems.size(), 1u);
        EXPECT_GE(static_cast<std::ptrdiff_t>(contents->entries.size()), seen);
        seen = lines();
        EXPECT_TRUE(LongTermMemory::open(longTermMemoryFile(folder_.path() / "data")));
    }
    restart();
    EXPECT_TRUE(optimize("examples/naive/transpose.cu").isImproved());
}

} // namespace
} // namespace kernelskill::engine
