#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "stencil-tiling";

const std::string restricted = "const float* __restrict__ in, float* __restrict__ out";

/// A kernel over x and y with `body`, launched as `grid` in blocks of 32 x 8.
std::string kernel(const std::string& body, const std::string& pointers = restricted,
                   const std::string& grid = "dim3((w + 31) / 32, (h + 7) / 8)") {
    return "__global__ void k(" + pointers + ", int w, int h, int d) {\n" + body +
           "}\nvoid run(const float* in, float* out, int w, int h, int d) {\n    k<<<" + grid +
           ", dim3(32, 8)>>>(in, out, w, h, d);\n}\n";
}

const std::string marchedGrid = "dim3((w + 31) / 32, ((h + 7) / 8 + 3) / 4)";

const std::string xy = "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n";

const std::string three =
    "out[y * w + x] = in[(y - 1) * w + x] + in[y * w + x] + in[(y + 1) * w + x];\n";

/// A kernel that loops over z itself.
std::string looping(const std::string& loop, const std::string& pointers = restricted) {
    return kernel(xy + "    int plane = w * h;\n    if (x >= w || y >= h)\n        return;\n" +
                      loop,
                  pointers);
}

TEST(StencilTiling, MarchesOverRowsUnderACompoundGuard) {
    checkApplicable(id,
                    kernel(xy + "    if (x > 0 && x < w && y > 0 && y < h - 1) {\n        " +
                           three + "    }\n"),
                    kernel("    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    int yBegin = (blockIdx.y * blockDim.y + threadIdx.y) * 4;\n"
                           "    if (x > 0 && x < w) {\n"
                           "        const int yFirst = yBegin < 1 ? 1 : yBegin;\n"
                           "        float in0, in1, in2;\n"
                           "        for (int y = yFirst; y < yBegin + 4 && y < h - 1; ++y) {\n"
                           "            if (y == yFirst) {\n"
                           "                in1 = in[(y - 1) * w + x];\n"
                           "                in2 = in[y * w + x];\n"
                           "            }\n"
                           "            in0 = in1;\n"
                           "            in1 = in2;\n"
                           "            in2 = in[(y + 1) * w + x];\n"
                           "            out[y * w + x] = in0 + in1 + in2;\n"
                           "        }\n"
                           "    }\n",
                           restricted, marchedGrid));
}

TEST(StencilTiling, TakesTheCheckOfTheAxisAloneForTheLoop) {
    checkApplicable(
        id,
        kernel("    const size_t y = blockIdx.y * 8 + threadIdx.y + 1, x = threadIdx.x;\n"
               "    if (x >= w) return;\n"
               "    if (y < h)\n"
               "        out[y * w + x] = in[y * w + x] - in[(y - 1) * w + x];\n"),
        kernel("    const size_t yBegin = (blockIdx.y * 8 + threadIdx.y) * 4 + 1, x = "
               "threadIdx.x;\n"
               "    if (x >= w) return;\n"
               "    float in0, in1;\n"
               "    for (size_t y = yBegin; y < yBegin + 4 && y < h; ++y) {\n"
               "        if (y == yBegin)\n"
               "            in1 = in[(y - 1) * w + x];\n"
               "        in0 = in1;\n"
               "        in1 = in[y * w + x];\n"
               "        out[y * w + x] = in1 - in0;\n"
               "    }\n",
               restricted, marchedGrid));
}

TEST(StencilTiling, MovesWhatFollowsFromThePositionIntoTheLoop) {
    const std::string text = appliedText(
        id,
        kernel(xy + "    float scale;\n    int at = y * w + x; // its place\n    if (x >= w || y "
                    "== 0 || y >= h - 1)\n        return;\n    scale = 2;\n    out[at] = scale "
                    "* (in[at - w] + in[at] + in[at + w]);\n"));
    EXPECT_TRUE(text.contains("    float scale;\n    if (x >= w)\n        return;\n"
                              "    const int yFirst = yBegin < 1 ? 1 : yBegin;\n"
                              "    float in0, in1, in2;\n"
                              "    for (int y = yFirst; y < yBegin + 4 && y < h - 1; ++y) {\n"
                              "        int at = y * w + x; // its place\n"
                              "        scale = 2;\n"
                              "        if (y == yFirst) {\n"
                              "            in1 = in[at - w];\n"))
        << text;
}

TEST(StencilTiling, KeepsSeveralQueuesOfAnArrayApart) {
    const std::string text = appliedText(
        id, kernel(xy + "    if (x < w - 1 && y < h - 1)\n        out[y * w + x] = in[y * w + x] + "
                        "in[(y + 1) * w + x] + in[y * w + x + 1] * in[(y + 1) * w + x + 1];\n"));
    EXPECT_TRUE(text.contains("    if (x < w - 1) {\n"
                              "        float in0, in1;\n"
                              "        float in2, in3;\n"
                              "        for (int y = yBegin; y < yBegin + 4 && y < h - 1; ++y) {\n"
                              "            if (y == yBegin) {\n"
                              "                in1 = in[y * w + x];\n"
                              "                in3 = in[y * w + x + 1];\n"
                              "            }\n"
                              "            in0 = in1;\n"
                              "            in1 = in[(y + 1) * w + x];\n"
                              "            in2 = in3;\n"
                              "            in3 = in[(y + 1) * w + x + 1];\n"
                              "            out[y * w + x] = in0 + in1 + in2 * in3;\n"
                              "        }\n"
                              "    }\n"))
        << text;
}

TEST(StencilTiling, QueuesInALoopWhoseIndexMoves) {
    checkApplicable(id,
                    looping("    int c = y * w + x + plane;\n"
                            "    for (int z = 1; z < d - 1; ++z) {\n"
                            "        out[c] = in[c + plane] - 2 * in[c] + in[c - plane];\n"
                            "        c += plane;\n"
                            "    }\n"),
                    looping("    int c = y * w + x + plane;\n"
                            "    float in0, in1, in2;\n"
                            "    for (int z = 1; z < d - 1; ++z) {\n"
                            "        if (z == 1) {\n"
                            "            in1 = in[c - plane];\n"
                            "            in2 = in[c];\n"
                            "        }\n"
                            "        in0 = in1;\n"
                            "        in1 = in2;\n"
                            "        in2 = in[c + plane];\n"
                            "        out[c] = in2 - 2 * in1 + in0;\n"
                            "        c += plane;\n"
                            "    }\n"));
}

TEST(StencilTiling, QueuesReadOnlyLoadsOfAWiderStencilInALoopWithoutBrackets) {
    checkApplicable(
        id,
        looping(
            "    for (int z = d / 2; z < d - 2; z++)\n"
            "        out[z * plane + x] = __ldg(&in[(z - 2) * plane + x]) + __ldg(&in[z * plane "
            "+ x]) + __ldg(in + (z - 1) * plane + x) + in[(z + 1) * plane + x] + in[x + (z + "
            "2) * plane];\n"),
        looping("    const int zFirst = d / 2;\n"
                "    float in0, in1, in2, in3, in4;\n"
                "    for (int z = zFirst; z < d - 2; z++) {\n"
                "        if (z == zFirst) {\n"
                "            in1 = __ldg(&in[(z - 2) * plane + x]);\n"
                "            in2 = __ldg(in + (z - 1) * plane + x);\n"
                "            in3 = __ldg(&in[z * plane + x]);\n"
                "            in4 = in[(z + 1) * plane + x];\n"
                "        }\n"
                "        in0 = in1;\n"
                "        in1 = in2;\n"
                "        in2 = in3;\n"
                "        in3 = in4;\n"
                "        in4 = in[x + (z + 2) * plane];\n"
                "        out[z * plane + x] = in0 + in2 + in1 + in3 + in4;\n"
                "    }\n"));
}

TEST(StencilTiling, LoadsInTheFirstRoundsWhatNoRoundBeforeThemLoaded) {
    checkApplicable(id,
                    looping("    for (int z = 2; z < d - 1; z += 2)\n"
                            "        out[z * plane + x] = in[(z + 2) * plane + x] - in[(z - 2) * "
                            "plane + x];\n"),
                    looping("    float in0 = 0, in1 = 0, in2 = 0;\n"
                            "    for (int z = 2; z < d - 1; z += 2) {\n"
                            "        in0 = in1;\n"
                            "        in1 = in2;\n"
                            "        in2 = in[(z + 2) * plane + x];\n"
                            "        if (z < 2 + 4)\n"
                            "            in0 = in[(z - 2) * plane + x];\n"
                            "        out[z * plane + x] = in2 - in0;\n"
                            "    }\n"));
}

TEST(StencilTiling, LeavesChecksOfTheOtherAxisBehindThatOfTheAxis) {
    const std::string text = appliedText(
        id, kernel(xy + "    if (y == 0 || y >= h - 1) return;\n    const int at = y * w "
                        "+ x;\n    if (x == 0 || x >= w) return;\n    out[at] = in[at - "
                        "w] + in[at + w];\n    return;\n"));
    EXPECT_TRUE(text.contains("* 4;\n"
                              "    if (x == 0 || x >= w) return;\n"
                              "    const int yFirst = yBegin < 1 ? 1 : yBegin;\n"
                              "    float in0 = 0, in1 = 0, in2 = 0;\n"
                              "    for (int y = yFirst; y < yBegin + 4 && y < h - 1; ++y) {\n"
                              "        const int at = y * w + x;\n"
                              "        in0 = in1;\n"))
        << text;
    EXPECT_TRUE(text.contains("        out[at] = in0 + in2;\n    }\n    return;\n")) << text;
}

TEST(StencilTiling, TakesLoadsOfMacros) {
    const std::string text = appliedText(
        id, "#define AT(a, i, j) a[(i) * w + (j)]\n" +
                kernel(xy + "    if (x < w && y < h - 1)\n        AT(out, y, x) = AT(in, y, x) * "
                            "AT(in, y + 1, x);\n"));
    EXPECT_TRUE(text.contains("            in0 = in1;\n"
                              "            in1 = AT(in, y + 1, x);\n"
                              "            AT(out, y, x) = in0 * in1;\n"))
        << text;
}

TEST(StencilTiling, QueuesInABranchThatAllRoundsTake) {
    const std::string text = appliedText(
        id,
        looping("    for (int z = 0; z < d; ++z) {\n        if (x > 0) {\n            int at = z "
                "* plane + x;\n            out[at] = in[at] + in[at + plane];\n        }\n    "
                "}\n"));
    EXPECT_TRUE(text.contains("            int at = z * plane + x;\n"
                              "            if (z == 0)\n"
                              "                in1 = in[at];\n"
                              "            in0 = in1;\n"
                              "            in1 = in[at + plane];\n"
                              "            out[at] = in0 + in1;\n"))
        << text;
}

TEST(StencilTiling, CountsTheLoadsThatAreLeft) {
    const Subject subject =
        parseSubject(kernel(xy + "    if (x < w && y > 0 && y < h - 1)\n        " + three));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 4);
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 3.0);
    EXPECT_EQ(skillNamed(id).alternatives(subject.context()).size(), 2);
}

TEST(StencilTiling, TakesFewerPointsOfASmallGrid) {
    const std::string text =
        appliedText(id, kernel(xy + "    if (x < w && y > 0 && y < h - 1)\n        " + three,
                               restricted, "dim3(32, 80)"));
    EXPECT_TRUE(text.contains("k<<<dim3(32, (80 + 1) / 2), dim3(32, 8)>>>")) << text;
}

TEST(StencilTiling, IsAboutTheBoundsCheck) {
    checkTarget(id, kernel(xy + "    if (y > 0 && y < h - 1)\n        " + three),
                "if (y > 0 && y < h - 1)\n        "
                "out[y * w + x] = in[(y - 1) * w + x] + in[y * w + x] + in[(y + 1) * w + x];");
}

class StencilTilingIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(StencilTilingIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string guarded(const std::string& work, const std::string& condition = "x < w && y < h - 1",
                    const std::string& before = "") {
    return kernel(xy + before + "    if (" + condition + ") {\n" + work + "    }\n");
}

const std::string two = "        out[y * w + x] = in[y * w + x] + in[(y + 1) * w + x];\n";
const std::string roundsOfTwo = "        out[z * plane + x] = in[z * plane + x] + in[(z + 1) * "
                                "plane + x];\n";

/// Loads of five columns, from a row to the eighth below: 45 values to keep.
std::string fiveLongQueues() {
    std::string sum;
    for (int column = 0; column < 5; ++column)
        for (int row = 0; row <= 8; ++row)
            sum += (sum.empty() ? "" : " + ") + ("in[(y + " + std::to_string(row)) +
                   ") * w + x + " + std::to_string(column) + "]";
    return "        out[y * w + x] = " + sum + ";\n";
}

INSTANTIATE_TEST_SUITE_P(
    Gates, StencilTilingIsNotOffered,
    testing::Values(
        GateCase{
            "NoAxis", "no-axis",
            "__global__ void k(const float* in, float* out, int n) {\n    int i = blockIdx.x * "
            "blockDim.x + threadIdx.x;\n    if (i < n)\n        out[i] = in[i] + in[i + 1];\n}"
            "\n"},
        GateCase{"NoNeighbours", "no-neighbours",
                 guarded("        out[y * w + x] = in[y * w + x] + in[y * w + x + 1];\n")},
        GateCase{"ArrayWritten", "array-written",
                 guarded("        out[y * w + x] = out[(y + 1) * w + x] + out[y * w + x];\n")},
        GateCase{"MayAlias", "may-alias",
                 "__global__ void k(const float* in, float* out, int w, int h) {\n" + xy +
                     "    if (x < w && y < h - 1)\n" + two +
                     "}\nvoid run(float* a, int w, int h) {\n    k<<<dim3(w, h), dim3(32, 8)>>>(a, "
                     "a + 1, w, h);\n}\n"},
        GateCase{"NoBoundsGuard", "no-bounds-guard", kernel(xy + two)},
        GateCase{"CompoundGuard", "compound-guard", guarded(two, "x < w && y < h - 1 && y != 5")},
        GateCase{"WorkBeforeGuard", "work-before-guard",
                 guarded(two, "x < w && y < h - 1", "    out[x] = 1;\n")},
        GateCase{"PositionUsedElsewhere", "position-used-elsewhere",
                 kernel("    int y = blockIdx.y * blockDim.y + threadIdx.y, up = y + 1;\n    if (y "
                        "< h - 1)\n        out[y * w] = in[y * w] + in[up * w];\n")},
        GateCase{"UsesThreadPosition", "uses-thread-position",
                 guarded("        out[y * w + x] = in[y * w + x] + in[(y + 1) * w + x] + "
                         "threadIdx.y;\n")},
        GateCase{"CarriedValue", "carried-value",
                 guarded("        sum += in[y * w + x] + in[(y + 1) * w + x];\n        out[y * w + "
                         "x] = sum;\n",
                         "x < w && y < h - 1", "    float sum = 0;\n")},
        GateCase{"EarlyExit", "early-exit",
                 guarded("        if (in[y * w + x] == 3)\n            return;\n" + two)},
        GateCase{"EarlyExitOfALoop", "early-exit",
                 looping("    for (int z = 0; z < d; ++z) {\n        if (z == x)\n            "
                         "continue;\n" +
                         roundsOfTwo + "    }\n")},
        GateCase{"ChangedIndex", "changed-index",
                 looping("    for (int z = 0; z < d; ++z) {\n        int at = z * plane;\n        "
                         "float a = in[at];\n        at += plane;\n        out[at] = a + "
                         "in[at];\n    }\n")},
        GateCase{"Atomic", "atomic",
                 guarded("        atomicAdd(&out[x], in[y * w + x] + in[(y + 1) * w + x]);\n")},
        GateCase{"FastAxis", "fast-axis",
                 guarded("        out[x * h + y] = in[x * h + y] + in[x * h + y + 1];\n")},
        GateCase{"SeveralStatementsALine", "several-statements-a-line",
                 looping("    for (int z = 0; z < d; ++z) { out[z * plane] = in[z * plane] + "
                         "in[(z + 1) * plane]; }\n")},
        GateCase{"FromMacro", "from-macro",
                 "#define STORE if (x > 0) out[y * w + x] = 1\n" +
                     guarded(two + "        STORE;\n" + two)},
        GateCase{"SharesMemory", "shares-memory",
                 guarded(two, "x < w && y < h - 1", "    __shared__ float kept[32];\n")},
        GateCase{"UnknownEffects", "unknown-effects",
                 "__device__ void changeAll(float* all);\n" +
                     looping("    for (int z = 0; z < d; ++z) {\n        changeAll(out);\n" +
                             roundsOfTwo + "    }\n")},
        GateCase{"TooManyRegisters", "too-many-registers", guarded(fiveLongQueues())},
        GateCase{"FewSharedLoads", "few-shared-loads",
                 guarded("        out[y * w + x] = in[y * w + x] + in[(y + 1) * w + x] + in[x] + "
                         "in[x + 1] + in[x + 2] + in[x + 3] + in[x + 4] + in[x + 5] + in[x + 6] + "
                         "in[x + 7] + in[x + 8] + in[x + 9] + in[x + 10] + in[x + 11];\n")},
        GateCase{"TooFewBlocks", "too-few-blocks",
                 kernel(xy + "    if (x < w && y < h - 1)\n" + two, restricted, "dim3(4, 4)")},
        GateCase{"LaunchGrid", "launch-grid",
                 kernel(xy + "    if (x < w && y < h - 1)\n" + two, restricted, "w")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
