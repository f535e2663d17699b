/// The whole search on the real emulator, with the real skills and memories.
#include "engine/memory/long_term_memory.h"
#include "tests/engine/workbench_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;
using ::testing::Contains;
using ::testing::HasSubstr;

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
    OptimizeTest() { options_.seed = 7; }
    Optimization optimize(const std::string& file, const std::string& memoryName = "k.cu") {
        const ProgramSource source = program(sourceFile(file));
        const ShortTermMemory memory(folder_.path(), folder_.path() / memoryName);
        auto found = workbench_->optimize(source, source.model->kernels.at(0), options_, memory,
                                          std::stop_token{}, {});
        EXPECT_TRUE(found) << found.error().describe();
        return found ? std::move(*found) : Optimization{};
    }
    /// As a new process would see it: only what is on disk is known.
    void restart() { workbench_ = std::make_unique<Workbench>(options(), bench_.toolchain); }

    OptimizationOptions options_;
};

TEST_F(OptimizeTest, TheConflictsOfATransposeAreRemovedAndTheSumIsVerified) {
    const Optimization found = optimize("examples/naive/transpose.cu");
    ASSERT_TRUE(found.isImproved()) << logOf(found);
    EXPECT_THAT(found.skills, Contains("shared-memory-padding"));
    EXPECT_EQ(found.verdict->status, VerdictStatus::Unmeasured);
    EXPECT_FALSE(found.verdict->speedup) << "nobody measured it";
    EXPECT_TRUE(std::ranges::all_of(found.verdict->checks, &Check::passed));
    EXPECT_GT(*found.modelledGain, 1);
    EXPECT_THAT(found.diff, HasSubstr("+"));
    EXPECT_EQ(found.executor, "emulator");
}

TEST_F(OptimizeTest, ASecondRunRepeatsNoPlanAndEndsWhereTheFirstDid) {
    const Optimization first = optimize("examples/naive/transpose.cu");
    restart();
    const Optimization second = optimize("examples/naive/transpose.cu");
    EXPECT_EQ(second.skills, first.skills);
    EXPECT_EQ(second.diff, first.diff);
    for (const Attempt& attempt : second.attempts)
        EXPECT_TRUE(attempt.isRemembered || !attempt.verdict) << attempt.plan.offer.skillId;
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

TEST_F(OptimizeTest, AKilledSearchLeavesWholeMemoriesAndTheNextGoesOn) {
    const auto memoryFile = folder_.path() / ".kernelskill" / "memory" / "k.cu.jsonl";
    const auto lines = [&] {
        std::ifstream stream(memoryFile);
        return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
    };
    std::ptrdiff_t seen = 0;
    for (int round = 0; round < 4; ++round) {
        workbench_.reset(); // No thread and no open database goes into the child.
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
