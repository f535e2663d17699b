#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "double-buffering";

/// Steps on a tile, with `body` in the loop and `behind` after it.
std::string stepping(const std::string& body, const std::string& behind = "",
                     const std::string& launch = "8, block") {
    return "#define SIDE 16\n__global__ void relax(const float* in, float* out, int steps, int n) "
           "{\n"
           "    __shared__ float now[SIDE][SIDE];\n    __shared__ float next[SIDE][SIDE];\n"
           "    __shared__ float total[SIDE];\n"
           "    int tx = threadIdx.x, ty = threadIdx.y;\n"
           "    now[ty][tx] = in[ty * SIDE + tx];\n    __syncthreads();\n"
           "    bool changed;\n"
           "    for (int i = 0; i < steps; i++) {\n" +
           body + "    }\n" + behind +
           "}\nvoid run(const float* in, float* out) {\n    dim3 block(SIDE, SIDE);\n"
           "    relax<<<" +
           launch + ">>>(in, out, 10, 16);\n}\n";
}

const std::string step = "        next[ty][tx] = 0.5f * now[ty][(tx + 1) % SIDE];\n";
const std::string copied = "        __syncthreads();\n        now[ty][tx] = next[ty][tx];\n"
                           "        __syncthreads();\n";
const std::string stored = "    out[ty * SIDE + tx] = now[ty][tx];\n";

TEST(DoubleBuffering, PassesOnWhatAThreadDidNotCopy) {
    const std::string text = appliedText(
        id, stepping("        changed = false;\n"
                     "        if (tx > i) {\n"
                     "            changed = true;\n"
                     "            next[ty][tx] = now[ty][tx - 1];\n"
                     "        }\n"
                     "        __syncthreads(); // read\n"
                     "        if (i == steps - 1)\n"
                     "            break;\n"
                     "        if (changed) // mine\n"
                     "            now[ty][tx] = next[ty][tx];\n"
                     "        __syncthreads(); // written\n",
                     "    if (changed)\n        out[ty * SIDE + tx] = next[ty][tx];\n"));
    EXPECT_TRUE(text.contains("    float (*current)[SIDE] = now;\n"
                              "    float (*following)[SIDE] = next;\n"
                              "    for (int i = 0; i < steps; i++) {\n"))
        << text;
    EXPECT_TRUE(text.contains("            following[ty][tx] = current[ty][tx - 1];\n        }\n"
                              "        if (!changed)\n"
                              "            following[ty][tx] = current[ty][tx];\n"
                              "        __syncthreads(); // read\n"))
        << text;
    EXPECT_TRUE(text.contains("            break;\n"
                              "        // All threads have read: the arrays may change roles.\n"
                              "        float (*done)[SIDE] = current;\n"
                              "        current = following;\n"
                              "        following = done;\n"
                              "    }\n"
                              "    if (changed)\n"
                              "        out[ty * SIDE + tx] = following[ty][tx];\n"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(DoubleBuffering, ReadsTheStateBehindTheLoopWhereItIs) {
    const std::string text = appliedText(id, stepping(step + copied, stored));
    EXPECT_TRUE(text.contains("out[ty * SIDE + tx] = current[ty][tx];")) << text;
    EXPECT_FALSE(text.contains("if (!")) << text;
}

TEST(DoubleBuffering, KeepsTheSameConditionForWorkAndCopy) {
    const std::string text =
        appliedText(id, stepping("        if (tx > 0 && ty > 0)\n"
                                 "            next[ty][tx] = now[ty - 1][tx - 1];\n"
                                 "        __syncthreads();\n"
                                 "        if (tx > 0 && ty > 0)\n"
                                 "            now[ty][tx] = next[ty][tx];\n"
                                 "        __syncthreads();\n",
                                 stored));
    EXPECT_TRUE(text.contains("        if (!(tx > 0 && ty > 0))\n"
                              "            following[ty][tx] = current[ty][tx];\n"))
        << text;
}

class DoubleBufferingIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(DoubleBufferingIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, DoubleBufferingIsNotOffered,
    testing::Values(
        GateCase{"NoLoop", "no-loop", "__global__ void k(int* x) {\n    x[threadIdx.x] += 1;\n}\n"},
        GateCase{"OneBarrier", "no-copied-state",
                 stepping(step + "        __syncthreads();\n", stored)},
        GateCase{"OtherElement", "no-copied-state",
                 stepping(step + "        __syncthreads();\n        now[ty][tx] = next[tx][ty];\n"
                                 "        __syncthreads();\n",
                          stored)},
        GateCase{
            "InALoop", "no-copied-state",
            stepping("        for (int j = 0; j < n; ++j) {\n    " + step + copied + "        }\n",
                     stored)},
        GateCase{"HalfABlock", "part-of-array", stepping(step + copied, stored, "8, 64")},
        GateCase{"WritesElsewhere", "other-memory",
                 stepping(step + "        total[tx] = next[ty][tx];\n" + copied, stored)},
        GateCase{"ReadsNext", "other-memory",
                 stepping(step + "        changed = next[tx][ty] > 0;\n" + copied, stored)},
        GateCase{"WritesOut", "other-memory",
                 stepping(step + "        out[i] = next[ty][tx];\n" + copied, stored)},
        GateCase{"MayKeepOld", "partly-written",
                 stepping("        if (tx > i)\n    " + step + copied, stored)},
        GateCase{"FlagOfBefore", "partly-written",
                 stepping("        if (tx > i) {\n            changed = true;\n    " + step +
                              "        }\n        __syncthreads();\n        if (changed)\n"
                              "            now[ty][tx] = next[ty][tx];\n        __syncthreads();\n",
                          stored)},
        GateCase{"FilledByOthers", "partly-filled",
                 "__global__ void k(int* x) {\n    __shared__ int now[64];\n    __shared__ int "
                 "next[64];\n    int t = threadIdx.x;\n    now[63 - t] = x[t];\n"
                 "    __syncthreads();\n    for (int i = 0; i < 9; ++i) {\n        if (t > 3)\n"
                 "            next[t] = now[t] + now[t - 1];\n        __syncthreads();\n"
                 "        if (t > 3)\n            now[t] = next[t];\n        __syncthreads();\n"
                 "    }\n    x[t] = now[t];\n}\nvoid run(int* x) {\n    k<<<1, 64>>>(x);\n}\n"},
        GateCase{"ExitAnyTime", "may-end-early",
                 stepping(step + "        __syncthreads();\n        if (i == n)\n            "
                                 "break;\n        now[ty][tx] = next[ty][tx];\n"
                                 "        __syncthreads();\n",
                          stored)},
        GateCase{"Skips", "may-end-early",
                 stepping("        if (n == i)\n            break;\n" + step + copied, stored)},
        GateCase{"UsedBehind", "used-behind",
                 stepping(step + copied, "    out[tx] = next[ty][tx];\n")},
        GateCase{"WholeArray", "other-memory",
                 stepping(step + copied, "    out[tx] = *now[ty];\n")},
        GateCase{"OneLine", "several-statements-a-line",
                 stepping(step + "        __syncthreads(); now[ty][tx] = next[ty][tx];\n"
                                 "        __syncthreads();\n",
                          stored)}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
