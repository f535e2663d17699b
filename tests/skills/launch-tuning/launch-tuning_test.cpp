#include "skills/gates/block_choice.h"
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view id = "launch-tuning";

/// One element a thread, launched as given by host code that knows n.
std::string launched(const std::string& host, const std::string& work = "y[i] = x[i];",
                     const std::string& head = "__global__ void") {
    return head +
           " k(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + "
           "threadIdx.x;\n    if (i < n)\n        " +
           work + "\n}\nvoid run(const float* x, float* y, int m) {\n" + host + "}\n";
}

std::string tuned(const std::string& host) {
    return appliedText(id, launched(host));
}

const std::string few = "    k<<<(m + 99) / 100, 100>>>(x, y, m);\n";

TEST(LaunchTuning, MakesEnoughBlocksOfAKnownSize) {
    const std::string text =
        tuned("    const int n = 1 << 15;\n    k<<<(n + 511) / 512, 512>>>(x, y, n);\n");
    EXPECT_TRUE(text.contains("k<<<(n + 127) / 128, 128>>>(x, y, n);")) << text;
}

TEST(LaunchTuning, FillsTheLanesOfWarps) {
    EXPECT_TRUE(tuned("    k<<<(m + 99) / 100, 100>>>(x, y, m);\n")
                    .contains("k<<<(m + 127) / 128, 128>>>(x, y, m);"));
}

TEST(LaunchTuning, FillsAMultiprocessor) {
    EXPECT_TRUE(tuned("    k<<<dim3((31 + m) / 32), dim3(32)>>>(x, y, m);\n")
                    .contains("k<<<dim3((127 + m) / 128), dim3(128)>>>(x, y, m);"));
}

TEST(LaunchTuning, MultipliesAndDividesGridsThatAreWrittenOtherwise) {
    EXPECT_TRUE(tuned("    int threads = 32, blocks = m / threads;\n    k<<<blocks, threads>>>(x, "
                      "y, m);\n")
                    .contains("k<<<(blocks + 3) / 4, 128>>>(x, y, m);"));
    EXPECT_TRUE(tuned("    const int blocks = 64;\n    k<<<blocks, 256>>>(x, y, m);\n")
                    .contains("k<<<blocks * 4, 64>>>(x, y, m);"));
    EXPECT_TRUE(tuned("    dim3 blocks(m / 48);\n    k<<<blocks, 48>>>(x, y, m);\n")
                    .contains("k<<<dim3((blocks.x * 48 + 63) / 64, blocks.y, blocks.z), 64>>>"));
}

TEST(LaunchTuning, CoversTheSameElementsWhereTheGridIsNotMadeForTheLimit) {
    EXPECT_TRUE(tuned("    const int half = m / 2;\n    k<<<(half + 31) / 32, 32>>>(x, y, m);\n")
                    .contains("k<<<((half + 31) / 32 + 3) / 4, 128>>>(x, y, m);"));
    EXPECT_TRUE(
        tuned("    const int half = 1 << 13;\n    k<<<(half + 255) / 256, 256>>>(x, y, m);\n")
            .contains("k<<<(half + 31) / 32, 32>>>(x, y, m);"));
}

TEST(LaunchTuning, TakesAGridStrideLoop) {
    const std::string text = appliedText(
        id, "__global__ void k(const float* x, float* y, int n) {\n    for (int i = blockIdx.x * "
            "blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)\n        y[i] = "
            "x[i];\n}\nvoid run(const float* x, float* y, int n) { k<<<64, 256>>>(x, y, n); }\n");
    EXPECT_TRUE(text.contains("k<<<64 * 4, 64>>>(x, y, n);")) << text;
}

/// One element a thread on two axes, in blocks of that size.
std::string onTwoAxes(const std::string& block, const std::string& check) {
    return "__global__ void k(const float* x, float* y, int w, int h) {\n    if (" + check +
           ")\n        return;\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    int j = blockIdx.y * blockDim.y + threadIdx.y;\n    y[j * w + i] = x[j * w + "
           "i];\n}\n"
           "void run(const float* x, float* y, int w, int h) {\n    dim3 block(" +
           block +
           ");\n    dim3 grid(w / block.x + 1, h / block.y + 1);\n"
           "    k<<<grid, block>>>(x, y, w, h);\n}\n";
}

TEST(LaunchTuning, GivesABlockOfAFewLanesWholeWarps) {
    const std::string check =
        "blockIdx.x * blockDim.x + threadIdx.x >= w || blockIdx.y * blockDim.y + threadIdx.y >= h";
    const std::string text = appliedText(id, onTwoAxes("4, 4", check));
    EXPECT_TRUE(text.contains("dim3 block(32, 4);")) << text;
    checkNotApplicable(id, onTwoAxes("8, 8", check), "several-axes");
    // Nothing keeps further threads along x from work.
    checkNotApplicable(id, onTwoAxes("4, 4", "blockIdx.y * blockDim.y + threadIdx.y >= h"),
                       "several-axes");
}

TEST(LaunchTuning, KeepsTheNumberOfThreadsWhereNoCheckIsKnown) {
    const std::string source =
        "#define N 4096\n__global__ void k(const float* x, float* y) {\n    int i = blockIdx.x * "
        "blockDim.x + threadIdx.x;\n    if (i > 0 && i < N - 1)\n        y[i] = x[i - 1] + x[i + "
        "1];\n}\nvoid run(const float* x, float* y) {\n    dim3 block(256, 1);\n    dim3 "
        "grid((size_t)ceil((float)N / (float)block.x), 1);\n    k<<<grid, block>>>(x, y);\n}\n";
    const std::string text = appliedText(id, source);
    EXPECT_TRUE(text.contains("dim3 block(32, 1);\n    dim3 grid((size_t)ceil((float)N / "
                              "(float)block.x), 1);\n    k<<<grid, block>>>(x, y);"))
        << text;
    checkNotApplicable(id,
                       launched("    k<<<(m + 99) / 100, 100>>>(x, y, m);\n",
                                "y[i + n / 2] = x[n - i];\n    if (i > 3) y[3] = 1;"),
                       "work-after-guard");
}

TEST(LaunchTuning, LeavesPositionsInMacrosAlone) {
    const Subject subject = parseSubject(
        "#define AT(q) (((q) - 1) * (blockDim.x * gridDim.x) + threadIdx.x + blockIdx.x * "
        "blockDim.x)\n"
        "__global__ void k(const float* c, float* f) { f[AT(1)] = f[AT(1)] * c[AT(2)]; }\n"
        "void run(const float* c, float* f, int n) {\n    dim3 threads(128, 1, 1);\n"
        "    dim3 blocks(n / 128, 1, 1);\n    k<<<blocks, threads>>>(c, f);\n}\n");
    std::vector<std::string> titles;
    for (const Offer& offer : skillNamed(id).alternatives(subject.context()))
        titles.push_back(offer.title);
    EXPECT_THAT(titles, ::testing::Contains("Launch k with blocks of 64 threads"));
}

TEST(LaunchTuning, LetsTheRuntimeBeAskedAboutTheKernel) {
    for (const char* use :
         {"cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1);",
          "if (cudaFuncSetCacheConfig((const void*)(k), cudaFuncCachePreferL1) != 0) return;"})
        EXPECT_FALSE(appliedText(id, launched("    " + std::string(use) + "\n" + few)).empty());
    checkNotApplicable(id, launched("    run2(other(k), cudaFuncCachePreferL1);\n" + few),
                       "kernel-named-elsewhere");
}

TEST(LaunchTuning, HasOtherSizesForASearch) {
    const Subject subject = parseSubject(
        launched("    const int n = 1 << 15;\n    k<<<(n + 511) / 512, 512>>>(x, y, n);\n",
                 "y[i] = x[i];", "__global__ void __launch_bounds__(512)"));
    const Skill& skill = skillNamed(id);
    const auto offer = skill.prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 128);
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 4);
    std::vector<int> sizes;
    for (const Offer& other : skill.alternatives(subject.context()))
        sizes.push_back(other.option);
    EXPECT_THAT(sizes, ElementsAre(64, 256, 32));
    const auto edits = skill.apply(subject.context(), skill.alternatives(subject.context())[1]);
    ASSERT_TRUE(edits);
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    EXPECT_TRUE(text && text->contains("k<<<(n + 255) / 256, 256>>>(x, y, n);"));
}

TEST(LaunchTuning, IsAboutTheKernel) {
    checkTarget(id, launched("    k<<<(m + 99) / 100, 100>>>(x, y, m);\n"), "k");
}

TEST(BlockChoice, LeavesAloneWhatFits) {
    EXPECT_FALSE(betterBlock(256, std::nullopt));
    EXPECT_FALSE(betterBlock(64, 4096));
    EXPECT_FALSE(betterBlock(32, 256));
    EXPECT_FALSE(betterBlock(32, 3));
}

class LaunchTuningIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(LaunchTuningIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, LaunchTuningIsNotOffered,
    testing::Values(
        GateCase{"Fits", "block-fits", launched("    k<<<(m + 255) / 256, 256>>>(x, y, m);\n")},
        GateCase{"UnknownBlock", "unknown-block", launched("    k<<<m / 64, m>>>(x, y, m);\n")},
        GateCase{"NoLaunch", "no-launch", launched("")},
        GateCase{"TwoSizes", "blocks-differ",
                 launched(few + "    k<<<(m + 47) / 48, 48>>>(x, y, m);\n")},
        GateCase{"BlockFromMacro", "launch-block",
                 "#define THREADS(n) (4 * (n))\n" +
                     launched("    k<<<m / 100, THREADS(25)>>>(x, y, m);\n")},
        GateCase{"LaunchBounds", "launch-bounds",
                 launched(few, "y[i] = x[i];", "__global__ void __launch_bounds__(100)")},
        GateCase{"CountsOnItsBlock", "uses-thread-position",
                 launched(few, "y[i] = x[i] + blockIdx.x;")},
        GateCase{"Barrier", "barrier", launched(few, "{ y[i] = x[i]; __syncthreads(); }")},
        GateCase{"Square", "two-dimensional", launched(few, "y[i] = x[i] + threadIdx.y;")},
        GateCase{"FunctionPointer", "kernel-named-elsewhere",
                 launched(few) + "void (*pointer)(const float*, float*, int) = k;\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
