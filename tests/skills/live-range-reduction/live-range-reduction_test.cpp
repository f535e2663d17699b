#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "live-range-reduction";

/// `early` before a loop with barriers, which ends with `inLoop`, and `late` behind it.
std::string staged(const std::string& early, const std::string& late,
                   const std::string& inLoop = "", const std::string& barrier = "__syncthreads();",
                   const std::string& parameters =
                       "const float* __restrict__ in, const double* __restrict__ bias, float* "
                       "__restrict__ out, int n") {
    return "__device__ void note(float* p) { *p = 1.0f; }\n__global__ void k(" + parameters +
           ") {\n    __shared__ float tile[256];\n    int i = threadIdx.x;\n    float sum = "
           "0.0f;\n" +
           early +
           "    for (int first = 0; first < n; first += 256) {\n        tile[threadIdx.x] = "
           "in[first + threadIdx.x];\n        " +
           barrier +
           "\n        for (int j = 0; j < 256; ++j)\n            sum += tile[j];\n        " +
           barrier + "\n" + inLoop + "    }\n" + late + "}\n";
}

/// 72 registers: 64, so 8 fewer, let a fourth block of 256 threads in.
const CompiledKernel crowded = compiledAs(72, 256);
const CompiledKernel spilling = compiledAs(255, 256, 0, 64);

TEST(LiveRangeReduction, MovesALoadWithItsComments) {
    checkApplicable(id,
                    staged("    // Per column,\n    // in double.\n    const double b = bias[i]; "
                           "// once\n\n",
                           "    // The sum.\n    out[i] = sum + b;\n"),
                    staged("\n",
                           "    // Per column,\n    // in double.\n    const double b = bias[i]; "
                           "// once\n    // The sum.\n    out[i] = sum + b;\n"),
                    spilling);
}

TEST(LiveRangeReduction, MovesEachLoadToItsOwnUse) {
    const std::string early = "    const double a = bias[i], c = 1;\n    double b = bias[i + 1];\n"
                              "    float d = __ldg(&in[i ? i - 1 : n]);\n";
    const std::string text =
        appliedText(id,
                    staged(early, "    sum += b;\n    #pragma unroll 2\n    for (int j = 0; j < n; "
                                  "++j)\n        sum += d * a * c;\n    out[i] = sum;\n"),
                    spilling);
    EXPECT_TRUE(
        text.contains("    double b = bias[i + 1];\n    sum += b;\n    float d = __ldg(&in[i "
                      "? i - 1 : n]);\n    #pragma unroll 2\n"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(LiveRangeReduction, TakesDistinctBuffersOfALaunch) {
    const std::string source =
        staged("    const float b = bias[i];\n", "    out[i] = sum + b;\n", "", "__syncthreads();",
               "const float* in, const float* bias, float* out, int n") +
        "void run(int n) {\n    float *a, *b, *c;\n    cudaMalloc(&a, n);\n    cudaMalloc(&b, n);\n"
        "    cudaMalloc(&c, n);\n    k<<<1, 256>>>(a, b, c, n);\n}\n";
    EXPECT_TRUE(appliedText(id, source, spilling)
                    .contains("    const float b = bias[i];\n    out[i] = sum + b;\n"));
}

TEST(LiveRangeReduction, SaysWhatItFollowsFrom) {
    Subject subject =
        parseSubject(staged("    double4 b = reinterpret_cast<const double4*>(bias)[i];\n",
                            "    out[i] = sum + b.x + b.y;\n"));
    subject.compiled = crowded;
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->why,
              "b takes 8 registers through the loop on line 7, whose barriers keep the compiler "
              "from loading later; 72 registers a thread leave room for 3 blocks of 256 threads on "
              "sm_90; with 8 fewer there is room for 4");
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 4.0 / 3);
    EXPECT_EQ(offer->numerics, Numerics::Exact);
    EXPECT_EQ(subject.file.source->slice(offer->anchor),
              "double4 b = reinterpret_cast<const double4*>(bias)[i];");
}

class LiveRangeReductionIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(LiveRangeReductionIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate, GetParam().compiled);
}

const std::string load = "    const double b = bias[i];\n";
const std::string use = "    out[i] = sum + b;\n";

INSTANTIATE_TEST_SUITE_P(
    Gates, LiveRangeReductionIsNotOffered,
    testing::Values(
        GateCase{"NobodyAsked", "needs-compiled-facts", staged(load, use)},
        GateCase{"EnoughWarps", "enough-warps", staged(load, use), compiledAs(40, 256)},
        GateCase{"SharedMemory", "registers-do-not-limit", staged(load, use),
                 compiledAs(72, 256, 60'000)},
        GateCase{"TooFew", "too-few-registers", staged(load, use), crowded},
        GateCase{"UsedInLoop", "no-early-load", staged(load, use, "        sum += b;\n"), spilling},
        GateCase{"NoBarrier", "no-early-load", staged(load, use, "", ";"), spilling},
        GateCase{"Computed", "no-early-load", staged("    const double b = 2.0 * i;\n", use),
                 spilling},
        GateCase{"Changes", "no-early-load", staged("    double b = bias[i];\n    b += 1;\n", use),
                 spilling},
        GateCase{"IndexChanges", "value-changes",
                 staged(load, "    out[threadIdx.x] = sum + b;\n", "        i += 256;\n"),
                 spilling},
        GateCase{
            "IndexIsPassedOn", "value-changes",
            "__device__ void advance(float x, int& i) { i += x; }\n" +
                staged(load, "    out[threadIdx.x] = sum + b;\n", "        advance(sum, i);\n"),
            spilling},
        GateCase{"IndexFromOwnArray", "may-alias",
                 staged("    int own[2] = {i, i + 1};\n    const double b = bias[own[i & 1]];\n",
                        use, "        own[i & 1] += 2;\n"),
                 spilling},
        GateCase{"HasEffects", "value-changes", staged("    const double b = bias[i++];\n", use),
                 spilling},
        GateCase{"NameIsHidden", "value-changes",
                 "__global__ void k(const double* __restrict__ bias, double* __restrict__ out, int "
                 "n) {\n    {\n        const double b = bias[n];\n        for (int j = 0; j < n; "
                 "++j)\n            __syncthreads();\n        int n = 3;\n        out[n] = b;\n    "
                 "}\n}\n",
                 spilling},
        GateCase{"Written", "may-alias", staged("    const float b = out[i + 1];\n", use),
                 spilling},
        GateCase{"MayOverlap", "may-alias",
                 staged(load, use, "", "__syncthreads();",
                        "const float* in, const double* bias, float* out, int n"),
                 spilling},
        GateCase{"CalleeWrites", "may-alias",
                 staged("    const float b = out[i];\n    note(out);\n", "    sum += b;\n"),
                 spilling},
        GateCase{"OneLine", "several-statements-a-line",
                 staged("    const double b = bias[i]; sum += 1.0f;\n", use), spilling},
        GateCase{"Configured", "between-directives",
                 staged("#ifndef OFF\n" + load + "#endif\n", use), spilling},
        GateCase{"Assembly", "goto",
                 staged(load, use, "        asm volatile(\"\" ::: \"memory\");\n"), spilling}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
