/// Replays captured launches on the real emulator: alone and in a review.
#include "engine/capture/capture_store.h"
#include "engine/inputs/launch_inference.h"
#include "engine/review/reviewer.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/temporary_folder.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// No guessed number is above 100, and none is an index into 300 elements by chance.
constexpr const char* source = R"(
__global__ void clip(const float* x, const int* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = x[index[i]];
        y[i] = value > 100.0f ? 100.0f : value;
    }
}
void run(const float* x, const int* index, float* y, int n) {
    clip<<<(n + 127) / 128, 128>>>(x, index, y, n);
}
)";
constexpr int count = 300;

class ReplayTest : public kernelskill::testing::EmulatorFixture {
protected:
    ReplayTest() {
        for (int i = 0; i < count; ++i) {
            x_.push_back(static_cast<float>(2 * i));
            index_.push_back(count - 1 - i);
            y_.push_back(std::min(100.0f, static_cast<float>(2 * (count - 1 - i))));
        }
    }

    template <typename T>
    [[nodiscard]] std::string addData(const std::vector<T>& values) const {
        auto name = dataName(values.data(), values.size() * sizeof(T));
        std::filesystem::create_directories(store_.path() / dataFolder);
        std::ofstream(store_.path() / dataFolder / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(values.size() * sizeof(T)));
        return name;
    }
    template <typename T>
    [[nodiscard]] CapturedParameter pointer(std::uint64_t address, const std::vector<T>& before,
                                            const std::vector<T>& after) const {
        CapturedParameter parameter{0, std::vector<std::byte>(sizeof address), CapturedBuffer{}};
        std::memcpy(parameter.value.data(), &address, sizeof address);
        *parameter.buffer = {
            address, before.size() * sizeof(T), addData(before), addData(after), {}};
        return parameter;
    }
    /// With what the program's launch made of it.
    void capture() const {
        CapturedLaunch launch = clipped();
        launch.symbol = "_Z4clipPKfPKiPfi";
        launch.parameters = {pointer(0x10000, x_, x_), pointer(0x20000, index_, index_),
                             pointer(0x30000, std::vector<float>(count), y_), size()};
        capture(std::move(launch));
    }
    static CapturedParameter size(int value = count) {
        CapturedParameter n{24, std::vector<std::byte>(sizeof value), {}};
        std::memcpy(n.value.data(), &value, sizeof value);
        return n;
    }
    /// A launch for `count` elements.
    static CapturedLaunch clipped() {
        CapturedLaunch launch;
        launch.grid = {3, 1, 1};
        launch.block = {128, 1, 1};
        return launch;
    }
    void capture(CapturedLaunch launch) const {
        launch.program = "./clip";
        std::filesystem::create_directories(store_.path() / manifestFolder);
        std::ofstream(store_.path() / manifestFolder / manifestName(launch.symbol, 1))
            << formatCapture(launch);
    }
    [[nodiscard]] ProgramSource captured(const char* text = source) const {
        ProgramSource found = program(text);
        found.captures = std::make_shared<const CaptureStore>(store_.path());
        return found;
    }
    [[nodiscard]] Verdict review(std::string_view from, std::string_view to,
                                 const char* text = source) const {
        const auto original = captured(text);
        const auto begin = static_cast<std::uint32_t>(original.text.find(from));
        const analysis::EditSet edits{
            {original.file,
             {{{begin, begin + static_cast<std::uint32_t>(from.size())}, std::string(to)}}}};
        const auto verdict = Reviewer(executor_.get(), bench_.toolchain)
                                 .review({original, original.model->kernels.at(0)}, edits,
                                         skills::Numerics::Exact, {}, {}, {.seed = testSeed()});
        EXPECT_TRUE(verdict) << verdict.error().describe();
        return verdict ? *verdict : Verdict{};
    }
    /// The first kernel, as it was captured.
    [[nodiscard]] Result<RunResult> run(const ProgramSource& program) const {
        const auto& kernel = program.model->kernels.at(0);
        const auto launches = inferLaunches(*program.model, kernel, LaunchTarget::Emulator,
                                            *capturesOf(program.captures));
        if (!launches)
            return std::unexpected(launches.error());
        EXPECT_EQ(launches->front().origin, LaunchOrigin::Captured);
        const auto image = executor_->build({program, kernel}, launches->front(), {});
        if (!image)
            return std::unexpected(image.error());
        Job job;
        job.launch = launches->front();
        job.wantOutputs = true;
        return executor_->run(**image, job, {});
    }
    static std::string report(const Verdict& verdict) {
        std::string text = verdict.summary;
        for (const Check& check : verdict.checks)
            text += "\n  " + std::string(check.passed ? "passed " : "FAILED ") + check.name + ": " +
                    check.detail;
        return text;
    }

    TemporaryFolder store_;
    std::vector<float> x_;
    std::vector<int> index_;
    std::vector<float> y_; ///< The kernel's result.
};

TEST_F(ReplayTest, GivesTheKernelWhatTheProgramGaveIt) {
    capture();
    const auto result = run(captured());
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(result->profile.hazards, IsEmpty());
    ASSERT_EQ(result->outputs.size(), 1u);
    ASSERT_EQ(result->outputs[0].bytes.size(), count * sizeof(float));
    EXPECT_EQ(std::memcmp(result->outputs[0].bytes.data(), y_.data(), count * sizeof(float)), 0);
}

TEST_F(ReplayTest, PassesNullPointers) {
    CapturedLaunch launch = clipped();
    launch.symbol = "_Z4biasPKfS0_Pfi";
    launch.parameters = {pointer(0x10000, x_, x_),
                         {8, std::vector<std::byte>(8), {}},
                         pointer(0x30000, std::vector<float>(count), x_),
                         size()};
    capture(launch);
    const auto result = run(captured(R"(
__global__ void bias(const float* x, const float* bias, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + (bias != nullptr ? bias[i] : 0.0f);
}
)"));
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(result->profile.hazards, IsEmpty());
    EXPECT_EQ(std::memcmp(result->outputs.at(0).bytes.data(), x_.data(), count * sizeof(float)), 0);
}

TEST_F(ReplayTest, IsOneTrialMoreAndAgreesWithTheProgram) {
    capture();
    const auto verdict = review("const float* x", "const float* __restrict__ x");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("matches original, seed 1, n=300, as captured"));
    EXPECT_THAT(report(verdict), HasSubstr("the emulator gives the program's results"));
    EXPECT_THAT(report(verdict), HasSubstr("proved for all inputs and sizes"));
}

TEST_F(ReplayTest, SeesAnErrorThatOnlyTheProgramsDataShows) {
    const char* right = "? 100.0f";
    const char* wrong = "? 101.0f";
    capture();
    const auto verdict = review(right, wrong);
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("FAILED matches original, seed 1, n=300, as captured"));
}

TEST_F(ReplayTest, FollowsTheLaunchThatAnEditChanges) {
    capture();
    const auto verdict = review("<<<(n + 127) / 128, 128>>>", "<<<(n + 63) / 64, 64>>>");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("n=300, as captured"));
    const auto tooFew = review("<<<(n + 127) / 128, 128>>>", "<<<(n + 127) / 128, 64>>>");
    EXPECT_EQ(tooFew.status, VerdictStatus::Incorrect) << report(tooFew);
}

TEST_F(ReplayTest, SaysWhenTheProgramGotSomethingElse) {
    y_[7] += 1; // An older kernel's.
    capture();
    const auto verdict = review("const float* x", "const float* __restrict__ x");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("gives other results than the program got"));
}

// Only some of the 4096 blocks are emulated. Each version adds other elements in these.
TEST_F(ReplayTest, DoesNotCompareWhatSomeBlocksAddIfAllAddToOnePlace) {
    const char* text = R"(
__global__ void total(const int* x, int* sum, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    int own = 0;
    for (int i = first; i < n; i += stride)
        own += x[i];
    atomicAdd(sum, own);
}
void run(const int* x, int* sum, int n) {
    total<<<4096, 128>>>(x, sum, n);
}
)";
    std::vector<int> x(1 << 20);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int>(i % 1000);
    CapturedLaunch launch;
    launch.symbol = "_Z5totalPKiPii";
    launch.grid = {4096, 1, 1};
    launch.block = {128, 1, 1};
    launch.parameters = {
        pointer(0x10000, x, x),
        pointer(0x30000, std::vector{0}, std::vector{std::accumulate(x.begin(), x.end(), 0)}),
        size(static_cast<int>(x.size()))};
    capture(launch);
    const auto chunks =
        review("    for (int i = first; i < n; i += stride)",
               "    const int part = (n + stride - 1) / stride;\n"
               "    for (int i = first * part; i < n && i < (first + 1) * part; ++i)",
               text);
    EXPECT_EQ(chunks.status, VerdictStatus::Unmeasured) << report(chunks);
    EXPECT_THAT(report(chunks), HasSubstr("all blocks add to the same places"));
}

} // namespace
} // namespace kernelskill::engine
