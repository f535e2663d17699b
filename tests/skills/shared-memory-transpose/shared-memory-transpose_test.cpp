#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "shared-memory-transpose";

/// A kernel over in, bias and out with `body`, launched once as `launch`.
std::string kernel(const std::string& body, const std::string& launch,
                   const std::string& type = "float") {
    return "__global__ void k(const " + type + "* in, const " + type + "* bias, " + type +
           "* out, int n, int w, int h) {\n" + body + "}\nvoid run(const " + type + "* in, const " +
           type + "* bias, " + type + "* out, int n, int w, int h) {\n    k" + launch +
           "(in, bias, out, n, w, h);\n}\n";
}

const std::string squares = "<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>";

/// x along lanes, y across.
std::string plane(const std::string& work, const std::string& launch = squares) {
    return kernel("    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n" +
                      work,
                  launch);
}

std::string flat(const std::string& work,
                 const std::string& launch = "<<<(n + 255) / 256, 256>>>") {
    return kernel("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + work, launch);
}

const std::string turn = "    if (x < w && y < h)\n        out[x * h + y] = in[y * w + x];\n";
const std::string turnFlat = "    if (i < n) {\n        int p = i % w;\n        int c = i / w;\n"
                             "        out[p * h + c] = in[i];\n    }\n";

TEST(SharedMemoryTranspose, StagesLoadsAloneWhereTheRestLiesLikeTheResult) {
    const std::string after = appliedText(
        id, plane("    if (x >= w || y >= h)\n        return;\n    float v = in[y * w + x];\n"
                  "    out[x * h + y] = v * v - bias[x * h + y];\n"));
    EXPECT_TRUE(
        after.contains("        if (x < w && y < h)\n"
                       "            tile[threadIdx.y + step][threadIdx.x] = in[y * w + x];\n"))
        << after;
    EXPECT_TRUE(after.contains("        if (x < w && y < h) {\n"
                               "            float v = tile[threadIdx.x][threadIdx.y + step];\n"
                               "            out[x * h + y] = v * v - bias[x * h + y];\n"
                               "        }\n"))
        << after;
}

TEST(SharedMemoryTranspose, WorksOutWholeValuesWithTheLoadsOtherwise) {
    const std::string after = appliedText(
        id,
        plane("    if (x < w && y < h) {\n        float v = in[y * w + x];\n        if (v < 0)\n"
              "            v = 0;\n        out[x * h + y] += 2 * v;\n    }\n"));
    EXPECT_TRUE(after.contains("            float v = in[y * w + x];\n            if (v < 0)\n"
                               "                v = 0;\n            tile[threadIdx.y + step]"
                               "[threadIdx.x] = 2 * v;\n"))
        << after;
    EXPECT_TRUE(after.contains("            out[x * h + y] += tile[threadIdx.x][threadIdx.y + "
                               "step];\n"))
        << after;
}

TEST(SharedMemoryTranspose, TakesTheThreadsOfAFurtherAxisForIts) {
    const std::string after = appliedText(
        id,
        plane("    int z = blockIdx.z * blockDim.z + threadIdx.z;\n    if (x < w && y < h && z < "
              "n)\n        out[(z * w + x) * h + y] = in[(z * h + y) * w + x];\n",
              "<<<dim3((w + 7) / 8, (h + 7) / 8, (n + 7) / 8), dim3(8, 8, 8)>>>"));
    EXPECT_TRUE(after.contains("        int z = blockIdx.z;\n")) << after;
    EXPECT_TRUE(after.contains("(n + 7) / 8 * 8), dim3(32, 8)>>>")) << after;
}

TEST(SharedMemoryTranspose, MakesALoopAnAxisOfTheGrid) {
    const std::string after =
        appliedText(id, flat("    if (i < w)\n        for (int c = 0; c < h; ++c)\n"
                             "            out[i * h + c] = in[c * w + i];\n",
                             "<<<(w + 127) / 128, 128>>>"));
    EXPECT_TRUE(after.contains("<<<dim3((w + 127) / 128 * 4, (h - 1) / 32 + 1), dim3(32, 8)>>>"))
        << after;
    EXPECT_TRUE(after.contains("        const int c = cBegin + threadIdx.y + step;\n"
                               "        if (i < w && c < h)\n"))
        << after;
}

TEST(SharedMemoryTranspose, TurnsTheOtherWay) {
    const std::string after = appliedText(
        id, kernel("    const size_t r = blockIdx.y * (size_t)blockDim.y + threadIdx.y;\n"
                   "    const size_t c = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n"
                   "    if (r < h && c < w)\n        out[r * w + c] = in[c * h + r];\n",
                   squares));
    EXPECT_TRUE(after.contains("const size_t r = rBegin + threadIdx.x;\n"
                               "        const size_t c = cBegin + threadIdx.y + step;\n"))
        << after;
}

TEST(SharedMemoryTranspose, KeepsTheBlockWhereTheGridAloneEndsThePositions) {
    const std::string after = appliedText(id, plane("    out[x * h + y] = in[y * w + x];\n",
                                                    "<<<dim3(w / 16, h / 16), dim3(16, 16)>>>"));
    EXPECT_TRUE(after.contains("    __shared__ float tile[16][16 + 1];\n")) << after;
    EXPECT_TRUE(after.contains("<<<dim3(w / 16, h / 16), dim3(16, 16)>>>")) << after;
}

TEST(SharedMemoryTranspose, KeepsTheBlockWhereTheLaunchMayLeavePositionsOver) {
    const std::string after =
        appliedText(id, plane(turn, "<<<dim3(w / 16, h / 16), dim3(16, 16)>>>"));
    EXPECT_TRUE(after.contains("<<<dim3(w / 16, h / 16), dim3(16, 16)>>>")) << after;
}

TEST(SharedMemoryTranspose, FindsPositionsThatHaveNoName) {
    const std::string after = appliedText(
        id, kernel("    if (blockIdx.x * blockDim.x + threadIdx.x < w && blockIdx.y * blockDim.y + "
                   "threadIdx.y < h)\n        out[(blockIdx.x * blockDim.x + threadIdx.x) * h + "
                   "blockIdx.y * blockDim.y + threadIdx.y] = in[(blockIdx.y * blockDim.y + "
                   "threadIdx.y) * w + blockIdx.x * blockDim.x + threadIdx.x];\n",
                   squares));
    EXPECT_TRUE(after.contains("= in[(row) * w + column];")) << after;
    EXPECT_TRUE(after.contains("out[(column) * h + row] = ")) << after;
}

TEST(SharedMemoryTranspose, TakesTilesOfAFlatIndexInTurns) {
    checkApplicable(
        id,
        flat("    if (i >= n)\n        return;\n    int t = i;\n    int p = t % w;\n    t /= w;\n"
             "    int c = t % h;\n    t /= h;\n    out[(t * w + p) * h + c] = in[i];\n"),
        kernel(R"(    __shared__ float tile[32][32 + 1];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int pTiles = (w + 31) / 32;
    const int cTiles = (h + 31) / 32;
    const int tiles = pTiles * cTiles * ((n + (w * h) - 1) / (w * h));
    for (int tileNumber = blockIdx.x; tileNumber < tiles; tileNumber += gridDim.x) {
        const int pBegin = tileNumber % pTiles * 32;
        const int cBegin = tileNumber / pTiles % cTiles * 32;
        const int outer = tileNumber / (pTiles * cTiles);
        for (int step = 0; step < 32; step += 8) {
            const int p = pBegin + lane;
            const int c = cBegin + warp + step;
            const int i = (outer * h + c) * w + p;
            if (p < w && c < h && i < n)
                tile[warp + step][lane] = in[i];
        }
        __syncthreads();
        for (int step = 0; step < 32; step += 8) {
            const int c = cBegin + lane;
            const int p = pBegin + warp + step;
            const int i = (outer * h + c) * w + p;
            if (p < w && c < h && i < n)
                out[(outer * w + p) * h + c] = tile[lane][warp + step];
        }
        __syncthreads();
    }
)",
               "<<<((n + 255) / 256 + 3) / 4, 256>>>"));
}

TEST(SharedMemoryTranspose, TakesRowsThatStayTogetherForOne) {
    // [n, h, w] channels of rows, where w * h elements keep their order.
    const std::string after = appliedText(
        id,
        flat("    if (i < n) {\n        int x = i % w;\n        int y = i / w % h;\n"
             "        int c = i / (w * h);\n        out[(y * w + x) * 64 + c] = in[i];\n    }\n"));
    EXPECT_TRUE(after.contains("const int columnTiles = (w * h + 31) / 32;")) << after;
    EXPECT_TRUE(after.contains("const int x = column % w;")) << after;
}

TEST(SharedMemoryTranspose, LeavesTheGridOfAStridedLoop) {
    const std::string after = appliedText(
        id,
        kernel("    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
               "gridDim.x) {\n        int p = i % w, c = i / w;\n        out[p * h + c] = "
               "in[i];\n    }\n",
               "<<<80, 192>>>"));
    // Six warps: rows beyond the tile are left out.
    EXPECT_TRUE(after.contains("for (int line = warp; line < 32; line += 6) {")) << after;
    EXPECT_TRUE(after.contains("k<<<80, 192>>>(")) << after;
}

TEST(SharedMemoryTranspose, EndsWithTheGridWhereItMayLeaveElementsOver) {
    const std::string after = appliedText(id, flat(turnFlat, "<<<n / 256, 256>>>"));
    EXPECT_TRUE(after.contains("< gridDim.x * blockDim.x && i < n)")) << after;
    EXPECT_TRUE(after.contains("k<<<n / 256, 256>>>(")) << after;
}

TEST(SharedMemoryTranspose, KnowsItsGainFromTheSectors) {
    const Subject subject =
        parseSubject(plane(turn, "<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 36.0 / 8);
    EXPECT_EQ(offeredNumerics(id, plane(turn)), Numerics::Exact);
}

class SharedMemoryTransposeIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(SharedMemoryTransposeIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, SharedMemoryTransposeIsNotOffered,
    testing::Values(
        GateCase{"Copy", "not-crossed",
                 plane("    if (x < w && y < h)\n        out[y * w + x] = in[y * w + x];\n")},
        GateCase{"ExchangedAxes", "not-crossed",
                 plane("    if (x < w && y < h)\n        out[x * h + y] = in[x * h + y];\n")},
        GateCase{"Scattered", "no-store-axis",
                 plane("    if (x < w && y < h)\n        out[2 * x * h + 2 * y] = in[y * w + "
                       "x];\n")},
        GateCase{"InPlace", "in-place",
                 plane("    if (x < w && y < h)\n        out[x * h + y] = out[y * w + x];\n")},
        GateCase{"SameMemory", "may-alias",
                 "__global__ void k(const float* in, float* out, int w, int h) {\n    int x = "
                 "blockIdx.x * blockDim.x + threadIdx.x;\n    int y = blockIdx.y * blockDim.y + "
                 "threadIdx.y;\n" +
                     turn +
                     "}\nvoid run(float* a, int w, int h) {\n    k<<<dim3((w + 15) / 16, (h + 15) "
                     "/ 16), dim3(16, 16)>>>(a, a, w, h);\n}\n"},
        GateCase{"ThinBlock", "no-bounds-guard",
                 plane("    if (x < w)\n        out[x * h + y] = in[y * w + x];\n",
                       "<<<dim3((w + 127) / 128, h), dim3(128, 1)>>>")},
        GateCase{"DeepBlock", "block-shape",
                 plane("    int z = blockIdx.z * blockDim.z + threadIdx.z;\n    if (x < w && y < h "
                       "&& z < n)\n        out[(z * w + x) * h + y] = in[(z * h + y) * w + x];\n",
                       "<<<dim3(w / 8, h / 8, n / 8), dim3(8, 8, 8)>>>")},
        GateCase{"LoopOfARunningIndex", "loop",
                 flat("    int at = i * h;\n    if (i < w)\n        for (int c = 0; c < h; ++c) "
                      "{\n            out[at] = in[c * w + i];\n            ++at;\n        }\n")},
        GateCase{"LoopFromOne", "loop",
                 flat("    if (i < w)\n        for (int c = 1; c < h; ++c)\n"
                      "            out[i * h + c] = in[c * w + i];\n")},
        GateCase{"LoopToAValueOfMemory", "loop",
                 flat("    if (i < w)\n        for (int c = 0; c < (int)bias[0]; ++c)\n"
                      "            out[i * h + c] = in[c * w + i];\n")},
        GateCase{"LoopBesideAPlane", "loop",
                 plane("    if (x < w && y < h)\n        for (int z = 0; z < n; ++z)\n"
                       "            out[(z * w + x) * h + y] = in[(z * h + y) * w + x];\n")},
        GateCase{"PartialWarps", "block-shape", flat(turnFlat, "<<<(n + 99) / 100, 100>>>")},
        GateCase{"UnknownBlock", "unknown-block", plane(turn, "<<<dim3(w, h), dim3(w, h)>>>")},
        GateCase{"OfThePosition", "uses-thread-position",
                 plane("    if (x < w && y < h)\n        out[x * h + y] = in[y * w + x] + "
                       "threadIdx.x;\n")},
        GateCase{"Colours", "short-axis",
                 flat("    if (i < 3 * w)\n        out[i % w * 3 + i / w] = in[i];\n",
                      "<<<(3 * w + 255) / 256, 256>>>")},
        GateCase{"Loop", "loop",
                 plane("    for (int z = 0; z < n; ++z)\n        out[(z * w + x) * h + y] = in[(z "
                       "* h + y) * w + x];\n")},
        GateCase{"Barrier", "barrier", plane("    __syncthreads();\n" + turn)},
        GateCase{"SharedMemory", "shares-memory", plane("    __shared__ float s[8];\n" + turn)},
        GateCase{"Atomic", "atomic", plane("    atomicAdd(out, 1.0f);\n" + turn)},
        GateCase{
            "ConditionalStore", "other-shape",
            plane("    if (x < w && y < h) {\n        if (bias[x] > 0)\n            out[x * h + "
                  "y] = in[y * w + x];\n        float unused = 0;\n    }\n")},
        GateCase{
            "ChangingPlace", "no-store-axis",
            plane("    if (x < w && y < h) {\n        int at = x * h + y;\n        at += 0 * "
                  "in[0];\n        out[at] = in[y * w + x];\n        out[x * h + y] = in[y * w "
                  "+ x];\n    }\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
