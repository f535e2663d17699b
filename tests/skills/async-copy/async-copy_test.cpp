#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "async-copy";

/// Blocks of which one is resident, so that nothing fills its wait.
CompiledKernel alone(std::uint64_t sharedBytes = 128) {
    return compiledAs(64, 1024, sharedBytes);
}

/// Copies `value` into the shared array a each round, then `use`s it.
std::string
staging(const std::string& value = "a[i] = in[t + i];",
        const std::string& use = "for (int j = 0; j < 32; ++j)\n            sum += a[j];",
        const std::string& head = "int t = 0; t < n; t += 32",
        const std::string& declaration = "__shared__ float a[32];",
        const std::string& element = "float") {
    return "#define AT(t) in[(t) + threadIdx.x]\n#define TILE a\n"
           "__global__ void k(const " +
           element +
           "* __restrict__ in, const int* __restrict__ order, float* __restrict__ out, int n) {\n"
           "    " +
           declaration + "\n    float sum = 0;\n    int i = threadIdx.x ^ 1;\n    for (" + head +
           ") {\n        " + value + "\n        __syncthreads();\n        " + use +
           "\n        __syncthreads();\n    }\n    out[threadIdx.x] = sum;\n}\n";
}

TEST(AsyncCopy, IncludesInsideOfTheGuardOfAHeader) {
    const auto begins = [](const std::string& head, const std::string& with) {
        EXPECT_TRUE(appliedText(id, head + staging(), alone()).starts_with(with)) << with;
    };
    const std::string added = "#include <cuda_pipeline.h>\n";
    begins("#ifndef TILES_H\n#define TILES_H\n", "#ifndef TILES_H\n#define TILES_H\n" + added);
    const std::string guard = "#ifndef TILES_H\n#define TILES_H\n#include <cuda_runtime.h>\n";
    begins(guard, guard + added);
    begins("#pragma once\n", "#pragma once\n" + added);
    // No guard: another name is defined.
    begins("#ifndef WIDTH\n#define HEIGHT 4\n#endif\n", added);
}

TEST(AsyncCopy, CopiesIntoTwoBuffersInTurn) {
    checkApplicable(id, R"(// Sums of tiles.
#include <cuda_runtime.h>
#ifdef WIDE
#include <cuda_fp16.h>
#endif

__global__ void k(const double* __restrict__ in, double* __restrict__ out, int n, int stage) {
    __shared__ double a[32], b[4][32];
    double sum = 0;
    int i = threadIdx.x ^ 1;
    // Tile by tile.
#pragma unroll 1
    for (int t = (n & 1); t < n; ++t) {
        __syncthreads(); // the last tile is done with
        int at = t * 32 + i; // where
        const int kept = 2 * at;
        a[i] = __ldg(&in[at]); // one
        // The other is half as long.
        b[2][i] =
            at < n ? in[kept +
                        1]
                   : 0;
        __syncthreads();
        for (int j = 0; j < 32; ++j)
            sum += a[j] * b[2][i ^ 4] + kept; // a and b
    }
    out[threadIdx.x] = sum + stage;
}
)",
                    R"(// Sums of tiles.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#ifdef WIDE
#include <cuda_fp16.h>
#endif

__global__ void k(const double* __restrict__ in, double* __restrict__ out, int n, int stage) {
    __shared__ double a[2][32], b[2][4][32];
    double sum = 0;
    int i = threadIdx.x ^ 1;
    // Tile by tile.
    // Each tile is copied into one buffer while the one before it is used in the other.
    int stage2 = 0;
    if ((n & 1) < n) {
        const int t = n & 1;
        int at = t * 32 + i; // where
        const int kept = 2 * at;
        __pipeline_memcpy_async(&a[0][i], &in[at], sizeof(double)); // one
        __pipeline_memcpy_async(&b[0][2][i], &in[kept +
                        1], sizeof(double),
            at < n ? 0 : sizeof(double));
    }
    __pipeline_commit();
#pragma unroll 1
    for (int t = (n & 1); t < n; ++t) {
        __syncthreads(); // the last tile is done with
        int at = t * 32 + i; // where
        const int kept = 2 * at;
        // The other is half as long.
        const int next = t + 1;
        if (next < n) {
            int at = next * 32 + i;
            const int kept = 2 * at;
            __pipeline_memcpy_async(&a[stage2 ^ 1][i], &in[at], sizeof(double));
            __pipeline_memcpy_async(&b[stage2 ^ 1][2][i], &in[kept +
                            1], sizeof(double),
                at < n ? 0 : sizeof(double));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int j = 0; j < 32; ++j)
            sum += a[stage2][j] * b[stage2][2][i ^ 4] + kept; // a and b
        stage2 ^= 1;
    }
    out[threadIdx.x] = sum + stage;
}
)",
                    compiledAs(64, 1024, 1280));
}

TEST(AsyncCopy, LeavesAnIncludeThatIsThere) {
    const std::string text = appliedText(id, "#include <cuda_pipeline.h>\n" + staging(), alone());
    EXPECT_EQ(text.find("#include"), text.rfind("#include")) << text;
}

TEST(AsyncCopy, KnowsElementsOfArraysWhoseExtentIsATemplateParameter) {
    const std::string text =
        appliedText(id, readSource("tests/corpus/matmul_tiled.cu"), alone(2048));
    EXPECT_TRUE(text.contains("As[2][")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(AsyncCopy, CopiesElementsOfSixteenBytes) {
    const std::string text =
        appliedText(id,
                    staging("a[i] = t < n ? in[t + i] : make_float4(0.f, 0, 0, 0.0f);",
                            "for (int j = 0; j < 32; ++j)\n            sum += a[j].x;",
                            "int t = 0; t < n; t += 32", "__shared__ float4 a[32];", "float4"),
                    alone(512));
    EXPECT_TRUE(text.contains("(&a[0][i], &in[t + i], sizeof(float4),")) << text;
    EXPECT_TRUE(text.contains("next < n ? 0 : sizeof(float4));")) << text;
    EXPECT_TRUE(text.contains("sum += a[stage][j].x;")) << text;
}

TEST(AsyncCopy, ReadsIndicesThatNothingGuards) {
    const std::string text = appliedText(id, staging("a[i] = in[order[t + i]];"), alone());
    EXPECT_TRUE(text.contains("&in[order[next + i]], sizeof(float));")) << text;
}

/// A loop around the loop at the cursor, whose rounds end with a barrier or begin with one.
std::string nested(bool endsWithBarrier) {
    return std::string("__global__ void k(const float* __restrict__ in, float* __restrict__ out, "
                       "int n) {\n    __shared__ float a[32];\n    float sum = 0;\n"
                       "    for (int j = 0; j < 3; ++j) {\n"
                       "        for (int t = $00; t < n; ++t) {\n") +
           (endsWithBarrier ? "" : "            __syncthreads();\n") +
           "            a[threadIdx.x] = in[t];\n            __syncthreads();\n"
           "            for (int i = 0; i < 32; ++i)\n                sum += a[i];\n" +
           (endsWithBarrier ? "            __syncthreads();\n" : "") +
           "        }\n    }\n    out[threadIdx.x] = sum;\n}\n";
}

TEST(AsyncCopy, MayRunInALoopIfItsRoundsEndWithABarrier) {
    const std::string text = appliedText(id, nested(true), alone());
    EXPECT_TRUE(text.contains("        int stage = 0;\n        if (0 < n) {\n")) << text;
    // The reason is that of the first loop, the outer one.
    checkNotApplicable(id, nested(false), "no-barrier", alone());
}

TEST(AsyncCopy, ComputesItsGainFromTheRoundAndTheBlocksThatTakeTurns) {
    const auto gainOf = [](const std::string& rounds, const CompiledKernel& compiled) {
        Subject subject = parseSubject(staging(
            "a[i] = in[t + i];", "for (int j = 0; j < " + rounds + "; ++j)\n    sum += a[j];"));
        subject.compiled = compiled;
        const auto offer = skillNamed(id).prepare(subject.context());
        return offer && offer->gain ? offer->gain->factor : 1.0;
    };
    EXPECT_GT(gainOf("32", alone()), gainOf("8", alone()));
    EXPECT_GT(gainOf("32", alone()), gainOf("512", alone()));
    EXPECT_LE(gainOf("64", alone()), 2.0);
    EXPECT_GT(gainOf("32", alone()), gainOf("32", compiledAs(32, 1024, 128)));
    EXPECT_EQ(gainOf("4096", alone()), 1.0);
}

TEST(AsyncCopy, IsExact) {
    Subject subject = parseSubject(staging());
    subject.compiled = alone();
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->numerics, Numerics::Exact);
}

CompiledKernel on(const std::string& architecture) {
    CompiledKernel compiled = alone();
    compiled.architecture = architecture;
    return compiled;
}

class AsyncCopyIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(AsyncCopyIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate,
                       GetParam().compiled ? GetParam().compiled : alone());
}

INSTANTIATE_TEST_SUITE_P(
    Gates, AsyncCopyIsNotOffered,
    testing::Values(
        GateCase{"NoLoop", "no-loop", "__global__ void k(int* x) {\n    x[0] = 1;\n}\n"},
        GateCase{"OldGpu", "before-sm-80", staging(), on("sm_75")},
        GateCase{"TooMuchShared", "too-much-shared-memory",
                 staging("a[i] = in[t + i];", "sum += a[i];", "int t = 0; t < n; ++t",
                         "__shared__ float a[8192];"),
                 alone(32'768)},
        GateCase{"LosesABlock", "loses-blocks",
                 staging("a[i] = in[t + i];", "sum += a[i];", "int t = 0; t < n; ++t",
                         "__shared__ float a[6000];"),
                 compiledAs(32, 128, 24'000)},
        GateCase{"NothingToHide", "nothing-to-overlap",
                 staging("a[i] = in[t + i];", "sum += a[i ^ 2];")},
        GateCase{
            "ManyBlocks", "enough-blocks",
            staging("a[i] = in[t + i];", "for (int j = 0; j < 32; ++j)\n            sum += a[j];"),
            compiledAs(32, 64, 128)},
        GateCase{
            "Continue", "early-exit",
            staging("a[i] = in[t];", "if (n > 9)\n            continue;\n        sum += a[i];")},
        GateCase{"NotAllThreads", "divergent-barrier",
                 staging("a[i] = in[t];",
                         "if (i < 9)\n            __syncthreads();\n        sum += a[i];")},
        GateCase{"OtherValuesToo", "stores-other-values",
                 staging("a[i] = in[t + i];\n        b[i] = t;", "sum += a[i] + b[i];",
                         "int t = 0; t < n; ++t", "__shared__ float a[32], b[32];")},
        GateCase{"TwoBytes", "element-size",
                 staging("a[i] = in[t + i];", "sum += a[i];", "int t = 0; t < n; ++t",
                         "__shared__ short a[32];", "short")},
        GateCase{"TwelveBytes", "element-size",
                 staging("a[i] = in[t + i];", "sum += a[i].x;", "int t = 0; t < n; ++t",
                         "__shared__ float3 a[32];", "float3")},
        GateCase{"Converted", "not-a-copy",
                 staging("a[i] = in[t + i];", "sum += a[i];", "int t = 0; t < n; ++t",
                         "__shared__ float a[32];", "int")},
        GateCase{"Scaled", "not-a-copy", staging("a[i] = 2 * in[t + i];")},
        GateCase{"Negated", "not-a-copy", staging("a[i] = -in[t + i];")},
        GateCase{"Sum", "not-a-copy", staging("a[i] = in[t] + in[i];")},
        GateCase{"OtherFill", "not-a-copy", staging("a[i] = t < n ? in[t + i] : 1.0f;")},
        GateCase{"NegativeZero", "not-a-copy", staging("a[i] = t < n ? in[t + i] : -0.0f;")},
        GateCase{"SourceInMacro", "not-counted-up", staging("a[i] = AT(t);")},
        GateCase{"GuardedIndex", "guarded-address",
                 staging("a[i] = t + i < n ? in[order[t + i]] : 0;")},
        GateCase{"GuardedDivision", "guarded-address",
                 staging("a[i] = n > 0 ? in[t / n + i] : 0;")},
        GateCase{"PlaceFollowsTheLoop", "place-follows-the-round",
                 staging("a[(t + i) & 31] = in[t + i];")},
        GateCase{"PlaceIsOfTheRound", "place-follows-the-round",
                 staging("const int at = t & 31;\n        a[at] = in[t + i];")},
        GateCase{"TileIsWritten", "tile-is-written", staging("a[i] = in[t + i];", "a[i] = 0;")},
        GateCase{"TileEscapes", "tile-escapes",
                 staging("a[i] = in[t + i];", "const float* p = a;\n        sum += p[i];")},
        GateCase{"TileInMacro", "tile-escapes", staging("a[i] = in[t + i];", "sum += TILE[i];")},
        GateCase{
            "TileUsedAhead", "tile-used-outside",
            staging("const float old = a[0];\n        a[i] = in[t + i];", "sum += a[i] + old;")},
        GateCase{"Dynamic", "dynamic-shared",
                 staging("a[i] = in[t + i];", "sum += a[i];", "int t = 0; t < n; ++t",
                         "extern __shared__ float a[];")},
        GateCase{"DeclaredInside", "unusual-declaration",
                 staging("__shared__ float b[32];\n        b[i] = in[t + i];", "sum += b[i];")}),
    [](const auto& info) { return info.param.name; });

TEST(AsyncCopy, AsksTheCompiler) {
    checkNotApplicable(id, staging(), "needs-compiled-facts");
}

} // namespace
} // namespace kernelskill::skills
