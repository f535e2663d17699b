/// The Reviewer on the real emulator: right edits pass every check, each kind of wrong one is
/// rejected by its own.
#include "engine/review/reviewer.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::replaced;
using kernelskill::testing::sourceFile;
using ::testing::HasSubstr;

class ReviewerTest : public kernelskill::testing::EmulatorFixture {
protected:
    /// Reviews the change of one place of `text`.
    [[nodiscard]] Verdict review(const std::string& text, std::string_view from,
                                 std::string_view to,
                                 skills::Numerics numerics = skills::Numerics::Exact) const {
        ProgramSource source = program(text);
        auto begin = static_cast<std::uint32_t>(text.find(from));
        EXPECT_NE(begin, static_cast<std::uint32_t>(std::string::npos)) << from;
        analysis::EditSet edits{
            {source.file,
             {{{begin, begin + static_cast<std::uint32_t>(from.size())}, std::string(to)}}}};
        Reviewer reviewer(executor_.get(), bench_.toolchain);
        auto verdict = reviewer.review({source, source.model->kernels.at(0)}, edits, numerics, {},
                                       {}, {.seed = testSeed()});
        EXPECT_TRUE(verdict) << verdict.error().describe();
        return verdict ? std::move(*verdict) : Verdict{};
    }

    static std::string report(const Verdict& verdict) {
        std::string text = verdict.summary;
        for (const Check& check : verdict.checks)
            text += "\n  " + std::string(check.passed ? "passed " : "FAILED ") + check.name + ": " +
                    check.detail;
        return text;
    }
    static const Check* failed(const Verdict& verdict) {
        auto found = std::ranges::find(verdict.checks, false, &Check::passed);
        return found == verdict.checks.end() ? nullptr : &*found;
    }
    static bool hasCheck(const Verdict& verdict, std::string_view begin) {
        return std::ranges::any_of(
            verdict.checks, [&](const Check& check) { return check.name.starts_with(begin); });
    }
};

TEST_F(ReviewerTest, AnEditThatChangesNoResultPassesEveryCheck) {
    Verdict verdict = review(sourceFile("examples/saxpy.cu"), "float* x, float* y",
                             "const float* __restrict__ x, float* __restrict__ y");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_EQ(failed(verdict), nullptr) << report(verdict);
    for (const char* name : {"parses", "proved", "compiles", "matches original, seed 1",
                             "control fails", "no new hazard"})
        EXPECT_TRUE(hasCheck(verdict, name)) << name << "\n" << report(verdict);
    EXPECT_FALSE(hasCheck(verdict, "matches original, seed 2")) << report(verdict);
    EXPECT_EQ(verdict.confidence, Confidence::Proved);
    EXPECT_THAT(verdict.summary, HasSubstr("Proved for all inputs and sizes, if the memory of x, y "
                                           "is not written through another pointer."));
    EXPECT_FALSE(verdict.speedup);
    EXPECT_FALSE(verdict.before.empty());
    EXPECT_FALSE(verdict.after.empty());
}

TEST_F(ReviewerTest, PaddingLowersTheWavefrontsAndSaysSo) {
    Verdict verdict =
        review(sourceFile("examples/transpose.cu"), "tile[TILE][TILE];", "tile[TILE][TILE + 1];");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("shared-memory wavefronts"));
}

TEST_F(ReviewerTest, WhatIsNotProvedIsRunAtSeveralSizes) {
    // No proof looks into the bits of an integer.
    const Verdict verdict = review(sourceFile("examples/saxpy.cu"), "a * x[i] + y[i]",
                                   "a * x[i] + y[i] * ((n ^ n) + 1)");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_TRUE(hasCheck(verdict, "matches original, seed 2")) << report(verdict);
    EXPECT_EQ(verdict.confidence, Confidence::Strong);
    EXPECT_EQ(verdict.proof, "");
}

TEST_F(ReviewerTest, AProofNeedsNoInputsThatWouldShowAWrongResult) {
    const std::string text = "__global__ void k(float* x, float* y, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] = sqrtf(-1 - x[i] * x[i]);\n}\n"
                             "int main() { int n = 4096; float *x, *y; cudaMalloc(&x, n * 4);\n"
                             "    cudaMalloc(&y, n * 4); k<<<n / 256, 256>>>(x, y, n); }\n";
    const Verdict proved = review(text, "float* x", "const float* x");
    EXPECT_EQ(proved.status, VerdictStatus::Unmeasured) << report(proved);
    EXPECT_THAT(report(proved), HasSubstr("not needed: the edit is proved"));
    const Verdict tested = review(text, "(-1 - x[i]", "(-1 - ((n ^ n) + 1) * x[i]");
    EXPECT_EQ(tested.status, VerdictStatus::Invalid) << report(tested);
    EXPECT_FALSE(tested.isAboutEdit) << report(tested);
}

TEST_F(ReviewerTest, AWrongResultIsIncorrectAndNamesTheElement) {
    Verdict verdict = review(sourceFile("examples/saxpy.cu"), "a * x[i] + y[i]", "a * x[i] - y[i]");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    ASSERT_NE(failed(verdict), nullptr);
    EXPECT_THAT(failed(verdict)->detail, HasSubstr("y["));
}

TEST_F(ReviewerTest, AnElementLeftOutIsIncorrect) {
    Verdict verdict = review(sourceFile("examples/saxpy.cu"), "if (i < n)", "if (i < n - 1)");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
}

TEST_F(ReviewerTest, OneElementTooFarIsRejected) {
    Verdict verdict = review(sourceFile("examples/saxpy.cu"), "if (i < n)", "if (i <= n)");
    EXPECT_TRUE(verdict.status == VerdictStatus::Incorrect ||
                verdict.status == VerdictStatus::Invalid)
        << report(verdict);
    EXPECT_NE(failed(verdict), nullptr);
}

TEST_F(ReviewerTest, OneElementTooFarIsRejectedOnAGuessedLaunch) {
    const std::string text = "__global__ void scale(const float* x, float* y, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] = 2 * x[i];\n"
                             "}\n";
    const Verdict verdict = review(text, "i < n", "i <= n");
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("out-of-bounds on line 3"));
    const std::string stated =
        "// kernelskill: launch scale<<<6, 256>>>(x=rand[1515], y=zero[1515], n=1515)\n" + text;
    const Verdict blamed = review(stated, "i < n", "i <= n");
    EXPECT_EQ(blamed.status, VerdictStatus::Incorrect) << report(blamed);
}

TEST_F(ReviewerTest, ABarrierTakenAwayIsARace) {
    Verdict verdict = review(sourceFile("examples/transpose.cu"), "    __syncthreads();\n", "");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
}

TEST_F(ReviewerTest, AReorderedSumIsMeasuredAgainstFloat64) {
    // Neighbours instead of halves: another order of the same sum.
    Verdict verdict = review(sourceFile("examples/reduce.cu"),
                             "    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {\n"
                             "        if (tid < s)\n",
                             "    for (unsigned s = 1; s < blockDim.x; s <<= 1) {\n"
                             "        if (tid % (2 * s) == 0)\n",
                             skills::Numerics::Reassociates);
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    auto match = std::ranges::find_if(verdict.checks, [](const Check& check) {
        return check.name.starts_with("matches original");
    });
    ASSERT_NE(match, verdict.checks.end());
    EXPECT_THAT(match->detail, HasSubstr("float64 reference"));
}

TEST_F(ReviewerTest, BlocksMayAddOtherElementsToOneSum) {
    const Verdict verdict = review(
        "__global__ void total(const float* x, float* y, int n) {\n    float sum = 0;\n"
        "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
        "gridDim.x)\n        sum += x[i];\n    atomicAdd(y, sum);\n}\n"
        "int main() { int n = 1 << 14; float *x, *y; cudaMalloc(&x, n * 4); cudaMalloc(&y, 4);\n"
        "    total<<<(n + 511) / 512, 128>>>(x, y, n); }\n",
        "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
        "gridDim.x)\n        sum += x[i];\n",
        "    for (int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x); i < n; i += 2 * blockDim.x "
        "* "
        "gridDim.x)\n        sum += i + 1 < n ? x[i] + x[i + 1] : x[i];\n",
        skills::Numerics::Reassociates);
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("the edit gives them other work"));
}

TEST_F(ReviewerTest, AReorderedSumIsIncorrectWhereExactnessIsPromised) {
    Verdict verdict = review(sourceFile("examples/reduce.cu"),
                             "    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {\n"
                             "        if (tid < s)\n",
                             "    for (unsigned s = 1; s < blockDim.x; s <<= 1) {\n"
                             "        if (tid % (2 * s) == 0)\n");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
}

TEST_F(ReviewerTest, ASumWithATermLeftOutIsIncorrectForAllItsRounding) {
    Verdict verdict = review(sourceFile("examples/reduce.cu"), "s > 0; s >>= 1", "s > 1; s >>= 1",
                             skills::Numerics::Reassociates);
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
}

/// A loop of the kernel belongs to a block of 32 x 8 threads, which the kernel's own text does not
/// say, and the launch is through a table of kernels.
constexpr const char* transposeThroughTable =
    "#define TILE_DIM 32\n"
    "#define BLOCK_ROWS 8\n"
    "__global__ void transpose(float* odata, const float* idata, int width, int height) {\n"
    "    __shared__ float tile[TILE_DIM][TILE_DIM];\n"
    "    int x = blockIdx.x * TILE_DIM + threadIdx.x;\n"
    "    int y = blockIdx.y * TILE_DIM + threadIdx.y;\n"
    "    int in = x + y * width;\n"
    "    x = blockIdx.y * TILE_DIM + threadIdx.x;\n"
    "    y = blockIdx.x * TILE_DIM + threadIdx.y;\n"
    "    int out = x + y * height;\n"
    "    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)\n"
    "        tile[threadIdx.y + i][threadIdx.x] = idata[in + i * width];\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)\n"
    "        odata[out + i * height] = tile[threadIdx.x][threadIdx.y + i];\n"
    "}\n"
    "void run(float* out, float* in, int width, int height) {\n"
    "    void (*kernels[])(float*, const float*, int, int) = {&transpose};\n"
    "    dim3 grid(width / TILE_DIM, height / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS);\n"
    "    kernels[0]<<<grid, threads>>>(out, in, width, height);\n"
    "}\n";

TEST_F(ReviewerTest, AFailureOnAGuessedLaunchIsNotHeldAgainstTheEdit) {
    const Verdict verdict =
        review(transposeThroughTable, "tile[TILE_DIM][TILE_DIM]", "tile[TILE_DIM][TILE_DIM + 1]");
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
    EXPECT_FALSE(verdict.isAboutEdit);
    EXPECT_EQ(verdict.failure, nullptr);
    EXPECT_THAT(verdict.summary, HasSubstr("with a guessed launch, which may be at fault"));
    EXPECT_THAT(verdict.summary, HasSubstr("`// kernelskill: launch transpose<<<"));
}

TEST_F(ReviewerTest, TheSameEditPassesOnALaunchThroughAPointer) {
    std::string text = transposeThroughTable;
    text.replace(text.find("(*kernels[])"), 12, "(*kernel)");
    text.replace(text.find("{&transpose}"), 12, "&transpose");
    text.replace(text.find("kernels[0]<<<"), 13, "kernel<<<");
    const Verdict verdict =
        review(text, "tile[TILE_DIM][TILE_DIM]", "tile[TILE_DIM][TILE_DIM + 1]");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
}

TEST_F(ReviewerTest, TheSameEditPassesOnThePinnedLaunch) {
    const std::string pinned =
        "// kernelskill: launch transpose<<<dim3(4, 4), dim3(32, 8)>>>(odata=zero[16384], "
        "idata=rand[16384], width=128, height=128)\n";
    const Verdict verdict = review(pinned + transposeThroughTable, "tile[TILE_DIM][TILE_DIM]",
                                   "tile[TILE_DIM][TILE_DIM + 1]");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
}

TEST_F(ReviewerTest, AnEditThatDoesNotParseIsInvalidWithTheCompilersWords) {
    Verdict verdict = review(sourceFile("examples/saxpy.cu"), "if (i < n)", "if (i < m)");
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid);
    ASSERT_NE(failed(verdict), nullptr);
    EXPECT_EQ(failed(verdict)->name, "parses");
    EXPECT_THAT(failed(verdict)->detail, HasSubstr("'m'"));
}

TEST_F(ReviewerTest, AKernelThatNeverEndsIsInvalid) {
    Verdict verdict = review(sourceFile("examples/saxpy.cu"), "    if (i < n)",
                             "    while (n > 0) y[0] = 1;\n    if (i < n)");
    EXPECT_TRUE(verdict.status == VerdictStatus::Invalid ||
                verdict.status == VerdictStatus::Incorrect)
        << report(verdict);
}

TEST_F(ReviewerTest, ResultsThatDoNotDependOnTheInputShowNothing) {
    std::string text = replaced(sourceFile("examples/saxpy.cu"), "a * x[i] + y[i]",
                                "x[i] > 2.0f && x[i] < 1.0f ? 1.0f : 0.0f");
    Verdict verdict = review(text, "x[i] < 1.0f", "x[i] < 0.5f");
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
    ASSERT_NE(failed(verdict), nullptr);
    EXPECT_EQ(failed(verdict)->name, "control fails");
}

TEST_F(ReviewerTest, AConstantThatMattersForFewInputsIsFoundByAProbe) {
    const std::string text =
        replaced(sourceFile("examples/saxpy.cu"), "a * x[i] + y[i]", "x[i] > 2.0f ? 1.0f : 0.0f");
    const Verdict verdict = review(text, "x[i] > 2.0f", "x[i] > 3.0f");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("values around the constants of both texts"));
}

TEST_F(ReviewerTest, AResultOfOneElementCanBeTold) {
    const std::string text = "__global__ void total(const float* in, float* out, int n) {\n"
                             "    float sum = 0;\n"
                             "    for (int i = 0; i < n; ++i)\n"
                             "        sum += in[i];\n"
                             "    *out = sum;\n"
                             "}\n"
                             "void launch(float* in, float* out) {\n"
                             "    total<<<1, 1>>>(in, out, 1000);\n"
                             "}\n";
    Verdict right = review(text, "const float* in", "const float* __restrict__ in");
    EXPECT_EQ(right.status, VerdictStatus::Unmeasured) << report(right);
    Verdict wrong = review(text, "i < n", "i < n - 1");
    EXPECT_EQ(wrong.status, VerdictStatus::Incorrect) << report(wrong);
}

TEST_F(ReviewerTest, ADifferenceOfAKernelThatRacesIsNotHeldAgainstTheEdit) {
    const std::string text = "__global__ void last(int* out, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n"
                             "        out[0] = i;\n"
                             "}\n"
                             "void launch(int* out) {\n"
                             "    last<<<4, 64>>>(out, 256);\n"
                             "}\n";
    Verdict verdict = review(text, "= i;", "= i + 1;");
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
    EXPECT_FALSE(verdict.isAboutEdit);
    ASSERT_NE(failed(verdict), nullptr);
    EXPECT_THAT(failed(verdict)->detail, HasSubstr("the order of its threads"));
}

TEST_F(ReviewerTest, AnEmptyEditIsInvalid) {
    ProgramSource source = program(sourceFile("examples/saxpy.cu"));
    Reviewer reviewer(executor_.get(), bench_.toolchain);
    auto verdict =
        reviewer.review({source, source.model->kernels.at(0)}, {}, skills::Numerics::Exact, {}, {});
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->status, VerdictStatus::Invalid);
}

TEST_F(ReviewerTest, WithoutAnExecutorNothingIsClaimed) {
    ProgramSource source = program(sourceFile("examples/saxpy.cu"));
    Reviewer reviewer(nullptr, bench_.toolchain);
    auto verdict =
        reviewer.review({source, source.model->kernels.at(0)}, {{source.file, {{{0, 0}, "\n"}}}},
                        skills::Numerics::Exact, {}, {});
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->status, VerdictStatus::Invalid);
    EXPECT_FALSE(verdict->isAboutEdit);
    EXPECT_THAT(verdict->summary, HasSubstr("no host compiler"));
}

TEST_F(ReviewerTest, ACancelledReviewIsNoVerdict) {
    ProgramSource source = program(sourceFile("examples/saxpy.cu"));
    Reviewer reviewer(executor_.get(), bench_.toolchain);
    std::stop_source stop;
    stop.request_stop();
    auto verdict =
        reviewer.review({source, source.model->kernels.at(0)}, {{source.file, {{{0, 0}, "\n"}}}},
                        skills::Numerics::Exact, stop.get_token(), {});
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().kind, ErrorKind::Cancelled);
}

} // namespace
} // namespace kernelskill::engine
