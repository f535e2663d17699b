#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "warp-scan";

/// A block's scan of `type` with the loop `loop`, launched with blocks of `block`.
std::string
scanning(const std::string& loop, const std::string& type = "float",
         const std::string& block = "256",
         const std::string& tail = "    out[blockIdx.x * blockDim.x + tid] = a[tid];\n") {
    return "__global__ void k(const " + type + "* in, " + type +
           "* out, int n) {\n    __shared__ " + type +
           " a[256];\n    int tid = threadIdx.x;\n    a[tid] = in[blockIdx.x * blockDim.x + tid];\n"
           "    __syncthreads();\n" +
           loop + tail + "}\nvoid run(" + type + "* i, " + type + "* o, int n) { k<<<n, " + block +
           ">>>(i, o, n); }\n";
}

const std::string plain = "    for (int s = 1; s < blockDim.x; s *= 2) {\n"
                          "        float before = tid >= s ? a[tid - s] : 0.0f;\n"
                          "        __syncthreads();\n        a[tid] += before;\n"
                          "        __syncthreads();\n    }\n";

struct Form {
    std::string name;
    std::string loop;
    std::string type = "float";
};

class WarpScanFits : public testing::TestWithParam<Form> {};

TEST_P(WarpScanFits, TheScansThatPeopleWrite) {
    const std::string text = appliedText(id, scanning(GetParam().loop, GetParam().type));
    EXPECT_TRUE(text.contains("__shfl_up_sync(0xffffffff, sum, offset)")) << text;
    EXPECT_FALSE(text.contains("tid - s")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Scans, WarpScanFits,
    testing::Values(
        Form{"Choice", plain},
        Form{"GuardedReadAndWrite",
             "    for (int s = 1; s < blockDim.x; s <<= 1) {\n        int v = 0;\n"
             "        if (tid >= s) v = a[tid - s];\n        __syncthreads();\n"
             "        if (tid >= s) a[tid] += v;\n        __syncthreads();\n    }\n",
             "int"},
        Form{"SumBeforeTheBarrier",
             "    for (unsigned s = 1; s < blockDim.x; s *= 2) {\n        __syncthreads();\n"
             "        float v;\n        if (s <= tid) {\n            v = a[tid] + a[tid - s];\n"
             "        }\n        __syncthreads();\n        if (tid >= s)\n            a[tid] = v;\n"
             "    }\n    __syncthreads();\n"},
        Form{"OwnCopy", "    for (int s = 1; s < 256; s = s * 2) {\n        float v = a[tid];\n"
                        "        if (tid >= s) v += a[tid - s];\n        __syncthreads();\n"
                        "        a[tid] = v;\n        __syncthreads();\n    }\n"},
        Form{"OtherBranch",
             "    for (int s = 1; s < blockDim.x; s *= 2) {\n        double v;\n"
             "        if (tid < s) v = a[tid]; else v = a[tid - s] + a[tid];\n"
             "        __syncthreads();\n        a[tid] = v;\n        __syncthreads();\n    }\n",
             "double"},
        Form{"While", "    int s = 1;\n    while (s < blockDim.x) {\n"
                      "        float v = threadIdx.x > s - 1 ? a[threadIdx.x - s] : 0;\n"
                      "        __syncthreads();\n        a[threadIdx.x] = a[threadIdx.x] + v;\n"
                      "        __syncthreads();\n        s *= 2;\n    }\n"},
        Form{"ValueDeclaredBefore",
             "    float v;\n    for (int s = 1; s < blockDim.x; s += s) {\n"
             "        if (tid >= s) v = a[tid - s];\n        __syncthreads();\n"
             "        if (tid >= s) a[tid] += v;\n        __syncthreads();\n    }\n"}),
    [](const testing::TestParamInfo<Form>& form) { return form.param.name; });

TEST(WarpScan, TakesALaunchThatPassesTheSpan) {
    const std::string text = appliedText(
        id,
        "template <int N> __global__ void k(int* x) {\n    __shared__ int a[N];\n"
        "    a[threadIdx.x] = x[threadIdx.x];\n    __syncthreads();\n"
        "    for (int s = 1; s < N; s *= 2) {\n"
        "        int v = threadIdx.x >= s ? a[threadIdx.x - s] : 0;\n"
        "        __syncthreads();\n        a[threadIdx.x] += v;\n        __syncthreads();\n    }\n"
        "    x[threadIdx.x] = a[threadIdx.x];\n}\n"
        "void run(int* x) { k<96><<<1, 96>>>(x); }\n");
    EXPECT_TRUE(text.contains("__shared__ int warpSums[32];")) << text;
}

TEST(WarpScan, KeepsNamesThatTheLoopSetsFree) {
    const std::string text =
        appliedText(id, scanning("    for (int offset = 1; offset < blockDim.x; offset *= 2) {\n"
                                 "        float sum = tid >= offset ? a[tid - offset] : 0.0f;\n"
                                 "        __syncthreads();\n        a[tid] += sum;\n"
                                 "        __syncthreads();\n    }\n"));
    EXPECT_TRUE(text.contains("__shfl_up_sync(0xffffffff, sum, offset)")) << text;
}

TEST(WarpScan, KeepsTheArrayWhereOthersReadTheResult) {
    const auto withTail = [](const std::string& tail) {
        return appliedText(id, scanning(plain, "float", "256", tail));
    };
    const std::string own = withTail("    out[tid] = a[tid] + 1;\n");
    EXPECT_TRUE(own.contains("    float sum = in[blockIdx.x * blockDim.x + tid];\n")) << own;
    EXPECT_TRUE(own.contains("    out[tid] = sum + 1;\n")) << own;
    EXPECT_FALSE(own.contains(" a[")) << own;
    for (const std::string tail :
         {"    out[tid] = a[255 - tid];\n", "    out[tid] = a[tid] / a[255];\n",
          "    a[tid] *= 2;\n    out[tid] = a[tid];\n"}) {
        const std::string text = withTail(tail);
        EXPECT_TRUE(text.contains("    a[tid] = sum;\n    __syncthreads();\n" + tail)) << text;
        EXPECT_TRUE(text.contains("    float sum = in[blockIdx.x * blockDim.x + tid];\n")) << text;
    }
}

TEST(WarpScan, KeepsTheArrayInALoopThatScansAgain) {
    const std::string text = appliedText(id, R"(
__global__ void k(const float* in, float* out, int rounds) {
    __shared__ float a[64];
    for (int r = 0; r < rounds; ++r) {
        a[threadIdx.x] = in[r * 64 + threadIdx.x];
        __syncthreads();
        for (int s = 1; s < 64; s *= 2) {
            float v = threadIdx.x >= s ? a[threadIdx.x - s] : 0;
            __syncthreads();
            a[threadIdx.x] += v;
            __syncthreads();
        }
        out[r * 64 + threadIdx.x] = a[threadIdx.x];
    }
}
void run(const float* in, float* out, int rounds) { k<<<1, 64>>>(in, out, rounds); }
)");
    EXPECT_TRUE(text.contains("        a[threadIdx.x] = sum;\n        __syncthreads();\n")) << text;
    EXPECT_TRUE(text.contains("        auto sum = a[threadIdx.x];\n")) << text;
}

TEST(WarpScan, NeedsALoop) {
    checkNotApplicable(id, scanning(""), "no-loop");
}

TEST(WarpScan, NeedsEveryStepToAddTheElementBefore) {
    const auto round = [](const std::string& read, const std::string& write) {
        return scanning("    for (int s = 1; s < blockDim.x; s *= 2) {\n        " + read +
                        "\n        __syncthreads();\n        " + write +
                        "\n        __syncthreads();\n    }\n");
    };
    const std::string read = "float v = tid >= s ? a[tid - s] : 0.0f;";
    checkNotApplicable(id, round(read, "a[tid] -= v;"), "not-a-scan");
    checkNotApplicable(id, round(read, "if (tid < s) a[tid] += v;"), "not-a-scan");
    checkNotApplicable(id, round(read, "a[tid] = v;"), "not-a-scan");
    checkNotApplicable(id, round(read, "a[tid] += v; out[tid] = v;"), "not-a-scan");
    checkNotApplicable(id, round("float v = tid >= s ? a[tid - s] : 1.0f;", "a[tid] += v;"),
                       "not-a-scan");
    checkNotApplicable(id, round("float v = tid > s ? a[tid - s] : 0.0f;", "a[tid] += v;"),
                       "not-a-scan");
    checkNotApplicable(id, round("float v = tid >= s ? a[tid - s - 1] : 0.0f;", "a[tid] += v;"),
                       "not-a-scan");
    checkNotApplicable(id, round("float v; if (tid >= s) v = a[tid - s];", "a[tid] += v;"),
                       "not-a-scan"); // not set below the stride
    checkNotApplicable(id, round("float v = 0;", "if (tid >= s) a[tid] += a[tid - s];"),
                       "not-a-scan"); // reads what others write
}

TEST(WarpScan, NeedsAStrideThatDoublesUpToTheBlock) {
    const auto with = [](const std::string& header) {
        return scanning(
            "    for (" + header +
            ") {\n        float v = tid >= s ? a[tid - s] : 0;\n"
            "        __syncthreads();\n        a[tid] += v;\n        __syncthreads();\n    }\n");
    };
    checkNotApplicable(id, with("int s = 1; s < blockDim.x; s += 1"), "not-a-scan");
    checkNotApplicable(id, with("int s = 2; s < blockDim.x; s *= 2"), "not-a-scan");
    checkNotApplicable(id, with("int s = 128; s > 0; s /= 2"), "not-a-scan");
    checkNotApplicable(id, with("int s = 1; s < blockDim.x / 2; s *= 2"), "not-a-scan");
    checkNotApplicable(id, with("int s = 1; s < 128; s *= 2"), "extent-not-block");
    checkNotApplicable(id, with("int s = 1; s < n; s *= 2"), "unknown-extent");
}

TEST(WarpScan, NeedsWholeWarpsInOneDimension) {
    checkNotApplicable(id, scanning(plain, "float", "100"), "partial-warps");
    checkNotApplicable(id, scanning(plain, "float", "dim3(16, 16)"), "two-dimensional");
    checkNotApplicable(id, scanning(plain, "float", "n"), "unknown-block");
}

TEST(WarpScan, NeedsEveryThread) {
    checkNotApplicable(id, scanning("    if (tid >= n) return;\n" + plain), "early-return");
    checkNotApplicable(id, scanning("    if (tid < n) {\n" + plain + "    }\n"),
                       "divergent-branch");
}

TEST(WarpScan, NeedsAShuffleForTheElements) {
    checkNotApplicable(id, scanning(plain, "short"), "no-shuffle");
}

TEST(WarpScan, NeedsItsNamesForItself) {
    checkNotApplicable(
        id,
        scanning("    int s;\n    float v = 0;\n    for (s = 1; s < blockDim.x; s *= 2) {\n"
                 "        v = tid >= s ? a[tid - s] : 0;\n        __syncthreads();\n"
                 "        a[tid] += v;\n        __syncthreads();\n    }\n"),
        "not-a-scan");
    checkNotApplicable(
        id,
        scanning("    float v = 0;\n    for (int s = 1; s < blockDim.x; s *= 2) {\n"
                 "        v = tid >= s ? a[tid - s] : 0;\n        __syncthreads();\n"
                 "        a[tid] += v;\n        __syncthreads();\n    }\n    out[0] = v;\n"),
        "used-after");
}

} // namespace
} // namespace kernelskill::skills
