/// Reviews that measure in a place of the test's, which stands for a program of the user.
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/review/reviewer.h"
#include "tests/engine/breakage.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

/// Says what the test wants it to say, and counts how often it is asked.
class ScriptedPlace final : public MeasuringPlace {
public:
    [[nodiscard]] bool hasOwnLaunch() const override { return knowsLaunch; }
    [[nodiscard]] std::map<std::string, std::int64_t> passed() const override { return integers; }
    [[nodiscard]] std::vector<Result<Screening>> screen(KernelRef,
                                                        std::span<const KernelRef> candidates,
                                                        std::uint64_t,
                                                        const std::stop_token&) override {
        return std::vector<Result<Screening>>(candidates.size(), Screening{3, {}});
    }
    void prepare(KernelRef candidate, const std::stop_token& stop) override {
        EXPECT_EQ(candidate.kernel.name, "twice");
        while (preparesForEver && !stop.stop_requested())
            std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++prepared;
    }
    [[nodiscard]] Result<GpuMeasurement> measure(const MeasuredEdit& edit,
                                                 const std::stop_token&) override {
        ++asked;
        wasPrepared = prepared > 0;
        wasChecked = edit.isChecked;
        if (error)
            return std::unexpected(*error);
        GpuMeasurement measured{held("same memory in ./program, launch 1"), {}, {}};
        if (differs)
            measured.agreement = incorrect("same memory in ./program, launch 1", "4 bytes differ",
                                           {.stage = ReviewStage::Outputs});
        else
            measured.timing = times;
        return measured;
    }

    ScriptedPlace() {
        times.status = VerdictStatus::Faster;
        times.speedup = 2;
    }

    TimingVerdict times;
    bool knowsLaunch = true;
    std::map<std::string, std::int64_t> integers;
    bool differs = false;
    std::optional<Error> error;
    int asked = 0;
    bool wasChecked = false;
    bool preparesForEver = false;
    std::atomic<int> prepared = 0;
    bool wasPrepared = false;
};

constexpr const char* plain =
    "__global__ void twice(const float* in, float* out, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        out[i] = 2 * in[i];\n"
    "}\n"
    "// kernelskill: launch twice<<<4, 64>>>(in=rand[200], out=zero[200], "
    "n=200)\n";
/// Nothing but a program can launch it.
constexpr const char* withView = "struct View { const float* x; };\n"
                                 "__global__ void twice(View in, float* out, int n) {\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n)\n"
                                 "        out[i] = 2 * in.x[i];\n"
                                 "}\n";

class MeasuringPlaceTest : public ::testing::Test {
protected:
    MeasuringPlaceTest() {
        EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = folder_.path() / "images";
        emulator_ = std::move(*makeEmulatorExecutor(options, bench_.toolchain));
    }

    /// The review of the edit that replaces `from` by `to`.
    [[nodiscard]] Verdict review(const std::string& text, const std::string& from = "2 *",
                                 const std::string& to = "2.0f *") {
        auto model = std::make_shared<const analysis::FileModel>(bench_.parsed(text));
        const ProgramSource original{model->file, text, {}, bench_.command, model};
        const auto begin = static_cast<std::uint32_t>(text.find(from));
        const analysis::EditSet edits{
            {original.file, {{{begin, begin + static_cast<std::uint32_t>(from.size())}, to}}}};
        const Reviewer reviewer(emulator_.get(), bench_.toolchain);
        auto verdict =
            reviewer.review({original, model->kernels.at(0)}, edits, skills::Numerics::Exact, {},
                            {}, {.measure = measures_, .seed = testSeed(), .place = &place_});
        EXPECT_TRUE(verdict) << verdict.error().describe();
        return verdict ? std::move(*verdict) : Verdict{};
    }

    kernelskill::testing::RepairBench bench_;
    kernelskill::testing::TemporaryFolder folder_;
    std::unique_ptr<Executor> emulator_;
    ScriptedPlace place_;
    bool measures_ = true;
};

TEST_F(MeasuringPlaceTest, ALookWithoutAGpuSaysWhyNothingWasTimed) {
    auto model = std::make_shared<const analysis::FileModel>(bench_.parsed(plain));
    const ProgramSource original{model->file, plain, {}, bench_.command, model};
    const KernelRef kernel{original, model->kernels.at(0)};
    const std::vector<KernelRef> candidates{kernel, kernel};
    const Reviewer reviewer(emulator_.get(), bench_.toolchain);
    const auto seen = reviewer.screen(kernel, candidates, {});
    ASSERT_EQ(seen.size(), 2u);
    for (const Result<Screening>& each : seen) {
        ASSERT_FALSE(each);
        EXPECT_EQ(each.error().what, "there is no GPU");
    }
}

TEST_F(MeasuringPlaceTest, PreparesBesideTheOtherChecks) {
    EXPECT_EQ(review(plain).status, VerdictStatus::Faster);
    EXPECT_TRUE(place_.wasPrepared);
    EXPECT_EQ(place_.prepared, 1);
    place_.preparesForEver = true;
    EXPECT_EQ(review(plain, "2 *", "3 *").status, VerdictStatus::Incorrect) << "it is stopped";
    EXPECT_EQ(place_.prepared, 2);
    measures_ = false;
    EXPECT_EQ(review(plain).status, VerdictStatus::Unmeasured);
    EXPECT_EQ(place_.prepared, 2);
}

TEST_F(MeasuringPlaceTest, MeasuresWhatTheEmulatorHasChecked) {
    const auto verdict = review(plain);
    EXPECT_EQ(verdict.status, VerdictStatus::Faster) << verdict.summary;
    EXPECT_EQ(verdict.speedup, 2);
    EXPECT_TRUE(place_.wasChecked);
    EXPECT_EQ(review(plain, "2 *", "3 *").status, VerdictStatus::Incorrect);
    EXPECT_EQ(place_.asked, 1) << "what the emulator refuses is not tried";
    place_.differs = true;
    EXPECT_EQ(review(plain).status, VerdictStatus::Incorrect);
    measures_ = false;
    EXPECT_EQ(review(plain).status, VerdictStatus::Unmeasured);
    EXPECT_EQ(place_.asked, 2);
}

/// The text alone tells of no other number of steps that the kernel can take.
TEST_F(MeasuringPlaceTest, ReachesCodeByTheIntegersThatTheProgramPasses) {
    const std::string text =
        "__global__ void twice(const float* in, const float* by, float* out, int n, int steps) {\n"
        "    int i = blockIdx.x * (blockDim.x - 2 * steps) + threadIdx.x - steps;\n"
        "    float value = i >= 0 && i < n ? in[i] : 0;\n"
        "    for (int step = 0; step < steps; ++step) {\n"
        "        value += by[steps];\n"
        "        if (step == steps - 1)\n"
        "            break;\n"
        "        value = 2 * value;\n"
        "    }\n"
        "    if (i >= 0 && i < n && threadIdx.x >= steps && threadIdx.x < blockDim.x - steps)\n"
        "        out[i] = value;\n"
        "}\n"
        "// kernelskill: launch twice<<<4, 64>>>(in=rand[200], by=rand[4], out=zero[200], n=200, "
        "steps=1)\n";
    EXPECT_EQ(review(text, "2 * value", "ldexpf(value, 1)").status, VerdictStatus::Invalid);
    place_.integers = {{"steps", 2}};
    const auto verdict = review(text, "2 * value", "ldexpf(value, 1)");
    EXPECT_EQ(verdict.status, VerdictStatus::Faster) << verdict.summary;
    EXPECT_EQ(review(text, "2 * value", "3 * value").status, VerdictStatus::Incorrect);
}

TEST_F(MeasuringPlaceTest, LooksForAnotherPlaceIfThisOneCannot) {
    place_.error = Error{ErrorKind::Unsupported, "other parameters", {}, {}};
    const auto unsupported = review(plain);
    EXPECT_EQ(unsupported.status, VerdictStatus::Unmeasured);
    EXPECT_THAT(unsupported.summary,
                HasSubstr("Not tried in the program: other parameters. No GPU"));
    place_.error = Error{ErrorKind::Failed, "it is gone", {}, {}};
    EXPECT_THAT(review(plain).summary, HasSubstr("Not measured: it is gone"));
}

TEST_F(MeasuringPlaceTest, JudgesAloneWhatTheEmulatorCannotRun) {
    const auto verdict = review(withView);
    EXPECT_EQ(verdict.status, VerdictStatus::Faster) << verdict.summary;
    EXPECT_TRUE(verdict.isAboutEdit);
    EXPECT_FALSE(place_.wasChecked);
    EXPECT_THAT(verdict.checks, Contains(Field(&Check::name, "runs on the emulator")));
    EXPECT_THAT(verdict.checks, Contains(Field(&Check::detail, HasSubstr("class with pointers"))));
    place_.differs = true;
    EXPECT_EQ(review(withView).status, VerdictStatus::Incorrect);
    place_.error = Error{ErrorKind::Unsupported, "other parameters", {}, {}};
    const auto unknown = review(withView);
    EXPECT_EQ(unknown.status, VerdictStatus::Invalid) << "nothing has checked it";
    EXPECT_FALSE(unknown.isAboutEdit);
    place_.error.reset();
    place_.differs = false;
    place_.knowsLaunch = false;
    EXPECT_FALSE(review(withView).isAboutEdit);
    EXPECT_EQ(place_.asked, 3);
}

TEST_F(MeasuringPlaceTest, ChecksOfTheTextHoldInEachPlace) {
    const std::string text =
        kernelskill::testing::replaced(withView, "int i = blockIdx", "unsigned i = blockIdx");
    const auto verdict = review(text, "unsigned i", "unsigned short i");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << verdict.summary;
    EXPECT_EQ(place_.asked, 0);
}

} // namespace
} // namespace kernelskill::engine
