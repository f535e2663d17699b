#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "software-prefetch";

TEST(SoftwarePrefetch, TakesABarrierAheadOfTheCopies) {
    checkApplicable(id, R"(
template <typename T>
__global__ void window(const T* __restrict__ in, T* __restrict__ out, int tiles, int first) {
    __shared__ T stage[64];
    T best = in[0];
#pragma unroll 1
    for (int tile = first; tile < tiles; ++tile) {
        __syncthreads(); // the last tile is done with
        stage[threadIdx.x] = in[tile * 64 + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < 64; ++i)
            best = stage[i] > best ? stage[i] : best;
        out[tile] = best;
    }
}
)",
                    R"(
template <typename T>
__global__ void window(const T* __restrict__ in, T* __restrict__ out, int tiles, int first) {
    __shared__ T stage[64];
    T best = in[0];
    // Each tile is loaded into registers while the one before it is used.
    T stageNext;
    if (first < tiles) {
        const int tile = first;
        stageNext = in[tile * 64 + threadIdx.x];
    }
#pragma unroll 1
    for (int tile = first; tile < tiles; ++tile) {
        __syncthreads(); // the last tile is done with
        stage[threadIdx.x] = stageNext;
        __syncthreads();
        const int next = tile + 1;
        if (next < tiles) {
            stageNext = in[next * 64 + threadIdx.x];
        }
        for (int i = 0; i < 64; ++i)
            best = stage[i] > best ? stage[i] : best;
        out[tile] = best;
    }
}
)");
}

/// Copies `value` into the shared array a each round, then `use`s it.
std::string staging(const std::string& value, const std::string& use = "sum += a[i];",
                    const std::string& head = "int t = 0; t < n; t += 32") {
    return "#define AT(t) in[(t) + threadIdx.x]\n__device__ float escape(float* p);\n"
           "__global__ void k(const float* __restrict__ in, const float* other, float* "
           "__restrict__ "
           "out, int n, int* m) {\n"
           "    __shared__ float a[32];\n    __shared__ int order[32];\n    float sum = 0;\n    "
           "int i = threadIdx.x ^ 1;\n    for (" +
           head + ") {\n        " + value + "\n        __syncthreads();\n        " + use +
           "\n        __syncthreads();\n    }\n    out[threadIdx.x] = sum;\n}\n";
}

TEST(SoftwarePrefetch, MovesDeclarationsThatOnlyTheValuesNeed) {
    const std::string text = appliedText(
        id, staging("const int at = t + i, twice = 2 * at; // where\n"
                    "        const int kept = twice + 1;\n"
                    "        a[i] = __ldg(&in[kept]) + in[at];\n        order[i] = kept;"));
    EXPECT_TRUE(text.contains("    float aNext;\n    if (0 < n) {\n        const int t = 0;\n"
                              "        const int at = t + i, twice = 2 * at; // where\n"
                              "        const int kept = twice + 1;\n"
                              "        aNext = __ldg(&in[kept]) + in[at];\n    }\n"))
        << text;
    EXPECT_TRUE(text.contains("        const int kept = twice + 1;\n        a[i] = aNext;\n"
                              "        order[i] = kept;\n"))
        << text;
    EXPECT_TRUE(text.contains("        const int next = t + 32;\n        if (next < n) {\n"
                              "            const int at = next + i, twice = 2 * at;\n"
                              "            const int kept = twice + 1;\n"
                              "            aNext = __ldg(&in[kept]) + in[at];\n        }\n"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(SoftwarePrefetch, KnowsElementsOfArraysWhoseExtentIsATemplateParameter) {
    const std::string text = appliedText(id, readSource("tests/corpus/matmul_tiled.cu"));
    EXPECT_TRUE(text.contains("    float AsNext;\n    float BsNext;\n")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(SoftwarePrefetch, KeepsHeadsThatBindLoosely) {
    const std::string text =
        appliedText(id, staging("a[i] = in[t];", "sum += a[i];",
                                "int t = (n ? 1 : 2); t < (n & ~31); t += (n >> 5)"));
    EXPECT_TRUE(text.contains("    if ((n ? 1 : 2) < (n & ~31)) {\n")) << text;
    EXPECT_TRUE(text.contains("        const int next = t + (n >> 5);\n"
                              "        if (next < (n & ~31)) {\n"))
        << text;
}

TEST(SoftwarePrefetch, RemovesADeclarationWithItsLastUse) {
    const std::string text =
        appliedText(id, staging("const int at = t + i;\n        a[i] = in[at];"));
    EXPECT_TRUE(text.contains("t += 32) {\n        a[i] = aNext;\n")) << text;
}

TEST(SoftwarePrefetch, ComputesItsGainFromTheRound) {
    const auto gainOf = [](const std::string& rounds) {
        const Subject subject = parseSubject(staging(
            "a[i] = in[t + i];", "for (int j = 0; j < " + rounds + "; ++j)\n    sum += a[j];"));
        const auto offer = skillNamed(id).prepare(subject.context());
        EXPECT_TRUE(offer) << offer.error().reason;
        return offer && offer->gain ? offer->gain->factor : 0.0;
    };
    EXPECT_GT(gainOf("32"), gainOf("8"));    // more to do beside the wait
    EXPECT_LT(gainOf("4096"), gainOf("64")); // the wait is a small part
    EXPECT_GT(gainOf("4096"), 1.0);
    EXPECT_LE(gainOf("64"), 2.0);
}

TEST(SoftwarePrefetch, IsExactAndAboutTheLoop) {
    EXPECT_EQ(offeredNumerics(id, staging("a[i] = in[t + i];")), Numerics::Exact);
    checkTarget(id, staging("a[i] = in[t + i];"),
                "for (int t = 0; t < n; t += 32) {\n        a[i] = in[t + i];\n        "
                "__syncthreads();\n        sum += a[i];\n        __syncthreads();\n    }");
}

class SoftwarePrefetchIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(SoftwarePrefetchIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, SoftwarePrefetchIsNotOffered,
    testing::Values(
        GateCase{"NoLoop", "no-loop", "__global__ void k(int* x) {\n    x[0] = 1;\n}\n"},
        GateCase{"NoBarrier", "no-barrier",
                 "__global__ void k(int* x) {\n    for (int i = 0; i < 9; ++i)\n        x[i] = "
                 "1;\n}\n"},
        GateCase{
            "OneBarrier", "one-barrier",
            "__global__ void k(const float* in, float* out) {\n    __shared__ float a[2][32];\n"
            "    for (int t = 0; t < 9; ++t) {\n        a[t & 1][threadIdx.x] = in[t];\n        "
            "__syncthreads();\n        out[t] = a[t & 1][0];\n    }\n}\n"},
        GateCase{"Down", "not-counted-up",
                 staging("a[i] = in[t];", "sum += a[i];", "int t = n; t > 0; t -= 32")},
        GateCase{"LimitChanges", "not-counted-up", staging("a[i] = in[t];", "n -= a[i];")},
        GateCase{"StartCounts", "start-has-effect",
                 staging("a[i] = in[t];", "sum += a[i];", "int t = i++; t < n; ++t")},
        GateCase{"OneRound", "short-loop",
                 staging("a[i] = in[t];", "sum += a[i];", "int t = 0; t < 1; ++t")},
        GateCase{
            "Break", "early-exit",
            staging("a[i] = in[t];", "if (sum > 9)\n            break;\n        sum += a[i];")},
        GateCase{"FromRegisters", "nothing-staged", staging("a[i] = sum;")},
        GateCase{"NotIntoShared", "not-plainly-staged", staging("sum = in[t];")},
        GateCase{"Guarded", "not-plainly-staged",
                 staging("if (t + i < n)\n            a[i] = in[t + i];")},
        GateCase{"LoopOfCopies", "not-plainly-staged",
                 staging("for (int j = i; j < 32; j += 8)\n            a[j] = in[t + j];")},
        GateCase{"SumOfTiles", "not-plainly-staged", staging("a[i] += in[t + i];")},
        GateCase{"CountsInTheValue", "not-plainly-staged", staging("a[i] = in[i++];")},
        GateCase{"NothingComputed", "nothing-computed", staging("a[i] = in[t];", ";")},
        GateCase{"PointerMoves", "value-follows-the-round",
                 staging("a[i] = in[i];", "in += 32;\n        sum += a[i];")},
        GateCase{"ByWhatWasComputed", "value-follows-the-round",
                 staging("a[i] = in[i];", "i = sum += a[i];")},
        GateCase{"ThroughShared", "may-alias",
                 staging("a[i] = in[order[i]];", "order[i] = sum += a[i];")},
        GateCase{"MayAlias", "may-alias", staging("a[i] = other[t + i];", "out[t] = sum += a[i];")},
        GateCase{"InPlace", "may-alias", staging("a[i] = out[t + i];", "out[t] = sum += a[i];")},
        GateCase{"UnknownCall", "call-in-loop", staging("a[i] = in[t];", "sum += escape(a);")},
        GateCase{"AtomicValue", "call-in-loop", staging("a[i] = in[atomicAdd(m, 1)];")},
        GateCase{"IndexInMacro", "not-counted-up", staging("a[i] = AT(t);")},
        GateCase{"OneLine", "several-statements-a-line",
                 staging("a[i] = in[t]; __syncthreads(); sum += a[i];")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
