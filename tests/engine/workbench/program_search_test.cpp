/// Searches on one pause of a program that is held on the stand-in of driver and CUPTI. Skills of
/// the user make the kernels, with variables by which the stand-in tells them apart.
#include "tests/engine/replay/cubin_image.h"
#include "tests/engine/workbench/held_program_fixture.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The stand-in's program multiplies by `factor` and counts in `launches`. Its modules have the
// other variables if a kernel uses them.
const std::string variables = R"(__device__ float factor = 3.0f;
__device__ int launches;
__device__ int quick = 1;
__device__ int quickest = 1;
__device__ int slow = 1;
__device__ int oddly = 1;
__device__ int faulty = 1;
__device__ int endless = 1;
)";
const std::string text = variables + R"(
__global__ void scale(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) ++launches;
    if (i < n) y[i] = a * factor * x[i];
}
// kernelskill: launch scale<<<4, 64, 64>>>(a=2, x=rand[250], y=zero[250], n=250)
)";

/// The same with an argument that only the program can pass.
const std::string viewText = variables + R"(struct View { const float* x; };
__global__ void scale(float a, View x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) ++launches;
    if (i < n) y[i] = a * factor * x.x[i];
}
)";

/// The same with pointers to pointers.
const std::string rowsText = variables + R"(
__global__ void scale(float a, const float* const* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) ++launches;
    if (i < n) y[i] = a * factor * x[0][i];
}
)";

class ProgramSearchTest : public kernelskill::testing::HeldProgramFixture {
protected:
    void SetUp() override {
        HeldProgramFixture::SetUp();
        if (IsSkipped())
            return;
        writeSkill("quick-count", "++launches", "launches += quick");
        writeSkill("slow-count", "++launches", "launches += slow");
        writeSkill("odd-count", "++launches", "launches += oddly");
        writeSkill("faulty-count", "++launches", "launches += faulty");
        writeSkill("quickest-count", "launches += quick", "launches += quick * quickest");
        WorkbenchOptions all = options();
        all.skillFolders = {{folder_.path() / "skills", skills::SkillOrigin::User}};
        workbench_ = std::make_unique<Workbench>(all, toolchain_);
        output_ = FileDescriptor(
            ::open((folder_.path() / "output").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        trial_.program.output = output_.get();
        options_.seed = 1;
        options_.time = std::chrono::seconds(120);
        options_.usesLongTermMemory = false;
    }

    void writeSkill(const std::string& name, const std::string& before,
                    const std::string& after) const {
        const auto folder = folder_.path() / "skills" / name;
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "SKILL.md")
            << "---\nname: " << name << "\ndescription: Counts launches. Use on counters.\n"
            << "numerics: exact\n---\nA counter.\n\n```cuda before\n"
            << before << "\n```\n\n```cuda after\n"
            << after << "\n```\n";
    }

    [[nodiscard]] std::unique_ptr<ProgramPause> hold(const std::stop_token& stop = {}) const {
        auto pause = ProgramPause::open(trial_, "scale", stop);
        EXPECT_TRUE(pause) << pause.error().describe();
        return pause ? std::move(*pause) : nullptr;
    }
    [[nodiscard]] Result<Optimization> optimize(const std::string& source, ProgramPause& pause,
                                                const std::stop_token& stop = {},
                                                const ProgressSink& progress = {},
                                                const analysis::EditSet& begun = {}) const {
        const ProgramSource parsed = program(source);
        const ShortTermMemory memory(folder_.path(), folder_.path() / "k.cu");
        return workbench_->advisor().optimize({parsed, parsed.model->kernels.at(0)}, options_,
                                              memory, stop, progress, nullptr, &pause, begun);
    }
    /// The edit of `text` that counts in another way.
    [[nodiscard]] analysis::EditSet counting(const std::string& how) const {
        const auto at = static_cast<std::uint32_t>(text.find("++launches"));
        return {{program(text).file, {{{at, at + 10}, how}}}};
    }
    [[nodiscard]] Result<GpuMeasurement> measure(ProgramPause& pause,
                                                 const analysis::EditSet& before,
                                                 const analysis::EditSet& after) const {
        const ProgramSource parsed = program(text);
        return workbench_->advisor().measureInProgram({parsed, parsed.model->kernels.at(0)}, before,
                                                      after, true, pause, {});
    }
    [[nodiscard]] static std::string logOf(const Optimization& found) {
        std::string log = found.stopText + "\n";
        for (const Attempt& attempt : found.attempts) {
            log += attempt.plan.offer.skillId + ": " + attempt.decision + "\n";
            for (const Check& check :
                 attempt.verdict ? attempt.verdict->checks : std::vector<Check>())
                log += "    " + check.name + ": " + check.detail + "\n";
        }
        return log;
    }
    [[nodiscard]] static std::string decisionOn(const Optimization& found,
                                                const std::string& skill) {
        for (const Attempt& attempt : found.attempts)
            if (attempt.plan.offer.skillId == skill && !attempt.isPostponed)
                return attempt.decision;
        return "not tried";
    }
    /// How many texts nvcc has compiled.
    [[nodiscard]] std::ptrdiff_t compilations() const {
        return std::distance(
            std::filesystem::directory_iterator(options().cacheDirectory / "facts"),
            std::filesystem::directory_iterator());
    }
    /// The program goes on and says what it says alone.
    void expectUsualEnd(ProgramPause& pause) const {
        const auto end = pause.resume({});
        EXPECT_EQ(end.value_or("an error"), "");
        const std::string command = "LD_LIBRARY_PATH='" + std::string(paths::fakeGpuFolder) +
                                    "' '" + trial_.program.words.front() + "' launch launch >'" +
                                    (folder_.path() / "alone").string() + "'";
        ASSERT_EQ(std::system(command.c_str()), 0); // NOLINT: a test's own words
        EXPECT_EQ(read("output"), read("alone"));
    }
    [[nodiscard]] std::string read(const char* name) const {
        std::ifstream file(folder_.path() / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    FileDescriptor output_;
    OptimizationOptions options_;
};

TEST_F(ProgramSearchTest, RunsOnOnePause) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    const auto found = optimize(text, *pause);
    ASSERT_TRUE(found) << found.error().describe();
    ASSERT_TRUE(found->isImproved()) << logOf(*found);
    EXPECT_EQ(found->executor, "program");
    EXPECT_THAT(found->skills, ElementsAre("quick-count", "quickest-count")) << logOf(*found);
    EXPECT_EQ(found->verdict->status, VerdictStatus::Faster);
    EXPECT_NEAR(found->verdict->speedup.value_or(0), 2.5, 0.01);
    EXPECT_EQ(found->verdict->confidence, Confidence::Strong) << "the emulator ran it as well";
    EXPECT_THAT(found->verdict->summary, HasSubstr("launch launch, launch 1: "));
    EXPECT_THAT(decisionOn(*found, "slow-count"), HasSubstr("slower"));
    EXPECT_THAT(decisionOn(*found, "odd-count"), HasSubstr("incorrect: same memory in"));
    EXPECT_THAT(decisionOn(*found, "odd-count"), HasSubstr("where parameter 3 points to"));
    EXPECT_THAT(decisionOn(*found, "faulty-count"), HasSubstr("ILLEGAL_ADDRESS"));
    EXPECT_THAT(pause->restarts(), ElementsAre(HasSubstr("ILLEGAL_ADDRESS"))) << "one that faults";
    EXPECT_LE(compilations(), 1 + std::ssize(found->attempts)) << "one for each candidate";
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, JudgesInTheProgramAloneWhatNothingElseCanRun) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    const auto found = optimize(viewText, *pause);
    ASSERT_TRUE(found) << found.error().describe();
    ASSERT_TRUE(found->isImproved()) << logOf(*found);
    EXPECT_THAT(found->skills, ElementsAre("quick-count", "quickest-count")) << logOf(*found);
    EXPECT_EQ(found->verdict->status, VerdictStatus::Faster);
    EXPECT_EQ(found->verdict->confidence, Confidence::Weak) << "one launch shows one size";
    EXPECT_THAT(found->verdict->summary, HasSubstr("The emulator did not run it"));
    EXPECT_THAT(found->verdict->checks,
                Contains(::testing::Field(&Check::detail, HasSubstr("a class with pointers"))));
    EXPECT_THAT(decisionOn(*found, "odd-count"), HasSubstr("incorrect"));
    EXPECT_THAT(decisionOn(*found, "faulty-count"), HasSubstr("invalid"));
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, FollowsNoPointersToPointers) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    const auto found = optimize(rowsText, *pause);
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_THAT(found->skills, ElementsAre("quick-count", "quickest-count")) << logOf(*found);
    EXPECT_EQ(found->verdict->confidence, Confidence::Weak);
    EXPECT_THAT(found->verdict->checks,
                Contains(::testing::Field(&Check::detail, HasSubstr("a pointer to pointers"))));
    EXPECT_THAT(decisionOn(*found, "odd-count"), HasSubstr("incorrect"));
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, BeginsFromWhatAnotherSearchHasFound) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    const auto begun = counting("launches += quick");
    const auto found = optimize(text, *pause, {}, {}, begun);
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_THAT(found->skills, ElementsAre("quickest-count")) << logOf(*found);
    EXPECT_LT(found->verdict->speedup.value_or(0), 2) << "beside what was found before";
    const auto edited = analysis::applyEdits(text, found->edits.begin()->second);
    ASSERT_TRUE(edited) << "its edits are of the program's own text";
    EXPECT_THAT(*edited, HasSubstr("launches += quick * quickest;"));
    EXPECT_THAT(found->diff, HasSubstr("-    if (i == 0) ++launches;"));
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, TriesWhatWasFoundElsewhere) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    const auto quick = counting("launches += quick");
    const auto faster = measure(*pause, {}, quick);
    ASSERT_TRUE(faster) << faster.error().describe();
    EXPECT_TRUE(faster->agreement);
    ASSERT_TRUE(faster->timing);
    EXPECT_EQ(faster->timing->status, VerdictStatus::Faster);
    const auto slower = measure(*pause, quick, counting("launches += slow"));
    ASSERT_TRUE(slower) << slower.error().describe();
    EXPECT_EQ(slower->timing->status, VerdictStatus::Slower);
    const auto wrong = measure(*pause, {}, counting("launches += oddly"));
    ASSERT_TRUE(wrong) << wrong.error().describe();
    ASSERT_FALSE(wrong->agreement);
    EXPECT_TRUE(wrong->agreement.error().isAboutEdit);
    EXPECT_THAT(wrong->agreement.error().detail, HasSubstr("where parameter 3 points to"));
    const auto uncompiled = measure(*pause, {}, counting("undeclared()"));
    EXPECT_FALSE(uncompiled && uncompiled->agreement);
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, OutlivesAProgramThatIsKilled) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    options_.rounds = 1;
    std::once_flag killed;
    const auto found = optimize(text, *pause, {}, [&](std::string_view what, double) {
        if (what.contains("a first look"))
            std::call_once(killed, [&] { ::kill(-pause->process(), SIGKILL); });
    });
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_THAT(found->skills, ElementsAre("quick-count")) << logOf(*found);
    EXPECT_THAT(pause->restarts(), Contains(HasSubstr("with status 137")));
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, LeavesNothingBehindIfItIsCancelled) {
    std::stop_source stop;
    auto pause = hold(stop.get_token());
    ASSERT_TRUE(pause);
    const pid_t process = pause->process();
    const auto found = optimize(text, *pause, stop.get_token(), [&](std::string_view what, double) {
        if (what.contains("a first look"))
            stop.request_stop();
    });
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_EQ(found->stop, StopReason::Cancelled);
    EXPECT_FALSE(found->isImproved());
    pause.reset();
    EXPECT_EQ(::kill(process, 0), -1) << "the program still runs";
}

TEST_F(ProgramSearchTest, HandsBackWhatWasFoundWhenATrialIsCancelled) {
    // The second round, on what the first has found, tries a kernel that does not end.
    writeSkill("endless-count", "launches += quick", "launches += quick * endless");
    WorkbenchOptions all = options();
    all.skillFolders = {{folder_.path() / "skills", skills::SkillOrigin::User}};
    workbench_ = std::make_unique<Workbench>(all, toolchain_);
    const auto mark = folder_.path() / "mark";
    trial_.program.environment.emplace_back("FAKE_MARK", mark.string());
    std::stop_source stop;
    auto pause = hold(stop.get_token());
    ASSERT_TRUE(pause);
    std::chrono::steady_clock::time_point begin;
    const std::jthread stopping([&](const std::stop_token& over) {
        while (!std::filesystem::exists(mark) && !over.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        begin = std::chrono::steady_clock::now();
        stop.request_stop();
    });
    const auto found = optimize(text, *pause, stop.get_token());
    ASSERT_TRUE(std::filesystem::exists(mark)) << logOf(*found);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_EQ(found->stop, StopReason::Cancelled);
    EXPECT_THAT(found->skills, ElementsAre("quick-count")) << logOf(*found);
    EXPECT_EQ(found->verdict->status, VerdictStatus::Faster);
    EXPECT_EQ(pause->process(), -1) << "the program still runs";
}

TEST_F(ProgramSearchTest, TheEndOfItsTimeIsNotThatOfThePause) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    options_.time = std::chrono::seconds(0);
    const auto found = optimize(text, *pause);
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_EQ(found->stop, StopReason::TimeSpent);
    std::stop_source over;
    over.request_stop();
    const ProgramSource parsed = program(text);
    const auto late = pause->tryAll({}, parsed.model->kernels.at(0), {}, over.get_token());
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind, ErrorKind::Cancelled);
    EXPECT_THAT(pause->restarts(), IsEmpty());
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, ATrialThatOutlastsTheSearchIsLeft) {
    trial_.patience = std::chrono::milliseconds(300);
    const auto pause = hold();
    ASSERT_TRUE(pause);
    const ProgramSource parsed = program(text);
    const auto& kernel = parsed.model->kernels.at(0);
    const auto tried = [&](const char* name, const std::stop_token& stop) {
        kernelskill::testing::CubinImage image;
        image.kernels = {{name, {}}};
        image.variables = {{"factor", 4}, {"launches", 4}};
        const ReplayCandidate candidate{imageOf(image), name, {157, 1, 1}, {256, 1, 1}, 0, {}};
        return pause->tryAll({candidate}, kernel, {.limit = std::chrono::minutes(1)}, stop);
    };
    std::stop_source over;
    std::jthread stopping([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        over.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto left = tried("hangs", over.get_token());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
    ASSERT_FALSE(left);
    EXPECT_EQ(left.error().kind, ErrorKind::Cancelled);
    const auto next = tried("right", {});
    ASSERT_TRUE(next) << next.error().describe();
    EXPECT_EQ(next->at(0).outcome, TrialOutcome::Same) << next->at(0).sentence;
    EXPECT_THAT(pause->restarts(), ElementsAre(HasSubstr("cancelled")));
    expectUsualEnd(*pause);
}

TEST_F(ProgramSearchTest, SaysThatTheFileIsNotWhatTheProgramIsBuiltFrom) {
    const auto pause = hold();
    ASSERT_TRUE(pause);
    std::string other = text;
    other.replace(other.find("++launches"), 10, "launches += oddly");
    const auto found = optimize(other, *pause);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().what, HasSubstr("does not do in the program what the program's own"));
    expectUsualEnd(*pause);
}

} // namespace
} // namespace kernelskill::engine
