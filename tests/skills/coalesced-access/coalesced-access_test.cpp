#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "coalesced-access";

/// A kernel over in and out with `body`, launched once as `launch`.
std::string kernel(const std::string& body, const std::string& launch = "<<<(n + 63) / 64, 64>>>") {
    return "__global__ void k(const float* in, const int* m, float* out, int n, int w) {\n" + body +
           "}\nvoid run(const float* in, const int* m, float* out, int n, int w) {\n    k" +
           launch + "(in, m, out, n, w);\n}\n";
}

/// Row along x, column along y.
std::string across(const std::string& work, const std::string& block = "dim3(16, 16)",
                   const std::string& grid = "dim3((n + 15) / 16, (w + 15) / 16)") {
    return kernel("    int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "    int c = blockIdx.y * blockDim.y + threadIdx.y;\n" +
                      work,
                  "<<<" + grid + ", " + block + ">>>");
}

std::string chunks(const std::string& work) {
    return kernel("    int t = blockIdx.x * blockDim.x + threadIdx.x;\n" + work);
}

TEST(CoalescedAccess, ExchangesTheThreadsOfASquareBlockAndLeavesTheLaunch) {
    checkApplicable(id,
                    across("    if (r < n && c < w)\n        out[r * w + c] = in[r * w + c];\n"),
                    kernel("    int r = blockIdx.x * blockDim.y + threadIdx.y;\n"
                           "    int c = blockIdx.y * blockDim.x + threadIdx.x;\n"
                           "    if (r < n && c < w)\n        out[r * w + c] = in[r * w + c];\n",
                           "<<<dim3((n + 15) / 16, (w + 15) / 16), dim3(16, 16)>>>"));
}

TEST(CoalescedAccess, InBlocksOfOneWarpIsForASearchAlone) {
    const std::string text =
        across("    if (r < n && c < w)\n        out[r * w + c] = in[r * w + c];\n", "dim3(4, 4)",
               "dim3((n + 3) / 4, (w + 3) / 4)");
    checkNotApplicable(id, text, "narrow-block");
    const Subject subject = parseSubject(text);
    const auto trials = skillNamed(id).alternatives(subject.context());
    ASSERT_EQ(trials.size(), 1u);
    EXPECT_FALSE(trials[0].gain);
    EXPECT_TRUE(skillNamed(id).apply(subject.context(), trials[0]));
}

TEST(CoalescedAccess, ExchangesConstantGridsToo) {
    checkApplicable(
        id, across("    out[r * w + c] = in[r * w + c];\n", "dim3(32, 4)", "dim3(1 << 16, 8)"),
        kernel("    int r = blockIdx.x * blockDim.y + threadIdx.y;\n"
               "    int c = blockIdx.y * blockDim.x + threadIdx.x;\n"
               "    out[r * w + c] = in[r * w + c];\n",
               "<<<dim3(1 << 16, 8), dim3(4, 32)>>>"));
    checkApplicable(
        id, across("    out[r * w + c] = in[r * w + c];\n", "dim3(32, 4)", "dim3(1 << 10, 8)"),
        kernel("    int r = blockIdx.y * blockDim.y + threadIdx.y;\n"
               "    int c = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "    out[r * w + c] = in[r * w + c];\n",
               "<<<dim3(8, 1 << 10), dim3(4, 32)>>>"));
}

TEST(CoalescedAccess, ExchangesAxesWhereTheProductOfAMatrixNeedsIt) {
    const std::string text = appliedText(
        id, across("    float sum = 0;\n    for (int j = 0; j < w; ++j)\n        sum += in[r * w + "
                   "j] * in[j * w + c];\n    out[r * w + c] = sum;\n"));
    EXPECT_TRUE(text.contains("int r = blockIdx.x * blockDim.y + threadIdx.y;")) << text;
}

TEST(CoalescedAccess, InterleavesChunksWhoseEndIsCutOff) {
    checkApplicable(
        id,
        chunks("    int chunk = (n + w - 1) / w;\n    int begin = t * chunk;\n"
               "    int end = min(begin + chunk, n);\n"
               "    for (int i = begin; i < end; ++i)\n        out[i] = 2 * in[i];\n"),
        chunks("    int chunk = (n + w - 1) / w;\n    int begin = t;\n"
               "    int end = min(static_cast<int>(blockDim.x * gridDim.x) * chunk, n);\n"
               "    for (int i = begin; i < end; i += blockDim.x * gridDim.x)\n"
               "        out[i] = 2 * in[i];\n"));
}

TEST(CoalescedAccess, InterleavesPlacesInAChunk) {
    checkApplicable(id,
                    chunks("    for (int j = 0; j < 8; ++j) {\n        int i = t * 8 + j;\n"
                           "        if (i < n)\n            out[i] = in[i];\n    }\n"),
                    chunks("    for (int j = 0; j < 8; ++j) {\n"
                           "        int i = t + j * static_cast<int>(blockDim.x * gridDim.x);\n"
                           "        if (i < n)\n            out[i] = in[i];\n    }\n"));
    checkApplicable(
        id,
        chunks("    int base = 8 * t;\n    for (int j = 0; j < 8; ++j)\n"
               "        if (base + j < n)\n            out[base + j] = in[base + j];\n"),
        chunks("    int base = t;\n    for (int j = 0; j < 8; ++j)\n"
               "        if (base + j * static_cast<int>(blockDim.x * gridDim.x) < n)\n"
               "            out[base + j * static_cast<int>(blockDim.x * gridDim.x)] = "
               "in[base + j * static_cast<int>(blockDim.x * gridDim.x)];\n"));
}

TEST(CoalescedAccess, ComputesItsGainFromTheSectors) {
    const std::string source = chunks("    for (int i = t * w; i < t * w + w; ++i)\n"
                                      "        out[i] = in[i];\n");
    const Subject subject = parseSubject(source);
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 8);
    EXPECT_EQ(offeredNumerics(id, source), Numerics::Exact);
}

TEST(CoalescedAccess, IsAboutTheLoopOrTheCheck) {
    checkTarget(id, chunks("    for (int i = t * w; i < t * w + w; ++i)\n        out[i] = 1;\n"),
                "for (int i = t * w; i < t * w + w; ++i)\n        out[i] = 1;");
}

class CoalescedAccessIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(CoalescedAccessIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

const std::string copyAcross = "    if (r < n && c < w)\n        out[r * w + c] = in[r * w + c];\n";
const std::string copyChunk = "    for (int i = t * w; i < t * w + w; ++i)\n        out[i] = "
                              "in[i];\n";

INSTANTIATE_TEST_SUITE_P(
    Gates, CoalescedAccessIsNotOffered,
    testing::Values(
        GateCase{
            "Coalesced", "coalesced",
            kernel("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    out[i] = in[i];\n")},
        GateCase{
            "Strided", "no-known-shape",
            kernel("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n / w) out[i] "
                   "= in[i * w];\n")},
        GateCase{"ThinBlock", "no-known-shape",
                 across(copyAcross, "dim3(64, 1)", "dim3((n + 63) / 64, w)")},
        GateCase{"UnknownBlock", "unknown-block", across(copyAcross, "dim3(w, n)")},
        GateCase{
            "Shuffle", "warp-operation",
            across("    float v = in[r * w + c];\n    out[r * w + c] = __shfl_down_sync(~0u, v, "
                   "1);\n")},
        GateCase{
            "WholeThreadIndex", "thread-position-as-a-whole",
            across("    dim3 t(threadIdx.x, 1, 1);\n    uint3 u = threadIdx;\n    out[r * w + c] = "
                   "in[r * w + c] + t.x + u.x;\n")},
        GateCase{"CalleeKnowsItsThread", "callee-uses-thread-position",
                 "__device__ float f() { return threadIdx.x; }\n" +
                     across("    out[r * w + c] = in[r * w + c] + f();\n")},
        GateCase{"FunctionPointer", "kernel-named-elsewhere",
                 across(copyAcross) +
                     "void (*pointer)(const float*, const int*, float*, int, int) = k;\n"},
        GateCase{
            "PositionInMacro", "from-macro",
            "#define ROW (blockIdx.x * blockDim.x + threadIdx.x)\n" +
                kernel("    int r = ROW;\n    int c = blockIdx.y * blockDim.y + threadIdx.y;\n" +
                           copyAcross,
                       "<<<dim3(n / 16, w / 16), dim3(16, 16)>>>")},
        GateCase{
            "ChunkCarriesOver", "carries-over",
            chunks("    float s = 0;\n    for (int i = t * w; i < t * w + w; ++i)\n        out[i] "
                   "= s += in[i];\n")},
        GateCase{
            "ChunkNeighbours", "elements-overlap",
            chunks("    for (int i = t * w; i < t * w + w; ++i)\n        out[i] = out[i + 1];\n")},
        GateCase{
            "ChunkOfWhichThread", "uses-thread-position",
            chunks("    for (int i = t * w; i < t * w + w; ++i)\n        out[i] = in[i] + t;\n")},
        GateCase{"ChunkBehindReturn", "early-exit",
                 chunks("    if (t > n) return;\n" + copyChunk)}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
