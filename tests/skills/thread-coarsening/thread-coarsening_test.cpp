#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "thread-coarsening";

/// A kernel over x and y with `body`, launched as `grid`.
std::string kernel(const std::string& body,
                   const std::string& grid = "dim3((w + 31) / 32, (h + 7) / 8)",
                   const std::string& pointers = "const float* __restrict__ in, float* "
                                                 "__restrict__ out") {
    return "__global__ void k(" + pointers + ", int w, int h) {\n" + body +
           "}\nvoid run(const float* in, float* out, int w, int h) {\n    k<<<" + grid +
           ", dim3(32, 8)>>>(in, out, w, h);\n}\n";
}

const std::string indices = "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n    int y = "
                            "blockIdx.y * blockDim.y + threadIdx.y;\n";

/// One row of `out` from a loop over rows of `in` that all rows share.
std::string product(const std::string& grid = "dim3((w + 31) / 32, (h + 7) / 8)") {
    return kernel(indices + "    if (x < w && y < h) {\n        float s = 0;\n        for (int j = "
                            "0; j < w; ++j)\n            s += in[y * w + j] * in[j * w + x];\n"
                            "        out[y * w + x] = s;\n    }\n",
                  grid);
}

/// Sums `term` over all j for each i, in blocks of 256 threads along x.
std::string pairs(const std::string& term, const std::string& grid) {
    return "__global__ void k(const float* __restrict__ in, float* __restrict__ out, int w) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= w)\n        return;\n"
           "    float s = 0;\n    for (int j = 0; j < w; ++j)\n        s += " +
           term +
           ";\n    out[i] = s;\n}\nvoid run(const float* in, float* out, int w) {\n    k<<<" +
           grid + ", 256>>>(in, out, w);\n}\n";
}

TEST(ThreadCoarsening, TakesPointsAlongXWhereAllLanesLoadTheSame) {
    const std::string text = appliedText(id, pairs("fabsf(in[j] - in[0])", "(w + 255) / 256"));
    EXPECT_TRUE(text.contains(R"(    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < w) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        for (int j = 0; j < w; ++j) {
)")) << text;
    EXPECT_TRUE(text.contains("        out[i + 3] = s3;\n    } else {\n")) << text;
    EXPECT_TRUE(text.contains("k<<<((w + 255) / 256 + 3) / 4, 256>>>")) << text;
}

TEST(ThreadCoarsening, TakesPointsAlongZ) {
    const auto stencil = [](const std::string& body, const std::string& blocks) {
        return "__global__ void k(const float* __restrict__ in, float* __restrict__ out, int w, "
               "int d) {\n    int x = blockIdx.x * blockDim.x + threadIdx.x;\n" +
               body +
               "}\nvoid run(const float* in, float* out, int w, int d) {\n"
               "    k<<<dim3((w + 127) / 128, 1, " +
               blocks + "), dim3(128, 1, 1)>>>(in, out, w, d);\n}\n";
    };
    checkApplicable(id,
                    stencil("    int z = blockIdx.z;\n    if (x < w && z < d - 1)\n"
                            "        out[z * w + x] = in[z * w + x] + in[(z + 1) * w + x];\n",
                            "d"),
                    stencil(R"(    int z = (blockIdx.z) * 4;
    if (x < w && z + 3 < d - 1) {
        const float in0 = in[z * w + x];
        const float in1 = in[(z + 1) * w + x];
        const float in2 = in[(z + 2) * w + x];
        const float in3 = in[(z + 3) * w + x];
        const float in4 = in[(z + 4) * w + x];
        out[z * w + x] = in0 + in1;
        out[(z + 1) * w + x] = in1 + in2;
        out[(z + 2) * w + x] = in2 + in3;
        out[(z + 3) * w + x] = in3 + in4;
    } else {
        for (int zEach = z; zEach < z + 4; ++zEach) {
            if (x < w && zEach < d - 1) {
                out[zEach * w + x] = in[zEach * w + x] + in[(zEach + 1) * w + x];
            }
        }
    }
)",
                            "(d + 3) / 4"));
}

TEST(ThreadCoarsening, TakesAStencilBehindAnEarlyReturnWithBoundsAtBothEnds) {
    checkApplicable(id, kernel(indices + R"(    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const int at = y * w + x; // its place
    out[at] = in[at] + in[(y - 1) * w + x] + in[(y + 1) * w + x];
)"),
                    kernel(R"(    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (x >= 1 && y >= 1 && x < w - 1 && y + 3 < h - 1) {
        const int at0 = y * w + x;
        const int at1 = (y + 1) * w + x;
        const int at2 = (y + 2) * w + x;
        const int at3 = (y + 3) * w + x;
        const float in0 = in[at0];
        const float in1 = in[(y - 1) * w + x];
        const float in2 = in[(y + 1) * w + x];
        const float in3 = in[(y + 2) * w + x];
        const float in4 = in[(y + 3) * w + x];
        const float in5 = in[(y + 4) * w + x];
        out[at0] = in0 + in1 + in2;
        out[at1] = in2 + in0 + in3;
        out[at2] = in3 + in2 + in4;
        out[at3] = in4 + in3 + in5;
    } else {
        for (int yEach = y; yEach < y + 4; ++yEach) {
            if (x >= 1 && yEach >= 1 && x < w - 1 && yEach < h - 1) {
                const int at = yEach * w + x; // its place
                out[at] = in[at] + in[(yEach - 1) * w + x] + in[(yEach + 1) * w + x];
            }
        }
    }
)",
                           "dim3((w + 31) / 32, ((h + 7) / 8 + 3) / 4)"));
}

TEST(ThreadCoarsening, TakesFewerRowsOfASmallGrid) {
    const std::string text = appliedText(id, product("dim3(32, 80)"));
    EXPECT_TRUE(text.contains("int y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;")) << text;
    EXPECT_TRUE(text.contains("k<<<dim3(32, (80 + 1) / 2), dim3(32, 8)>>>")) << text;
}

TEST(ThreadCoarsening, KeepsOneCopyOfWhatAllRowsShare) {
    const std::string text = appliedText(
        id, kernel(indices + "    if (x < w && y < h) {\n        float s = 0;\n        #pragma "
                             "unroll 2\n        for (int j = 0; j < w; ++j) {\n            float b "
                             "= in[j * w + x];\n            float a = in[y * w + j];\n            "
                             "if (a > 0)\n                s += a * b;\n        }\n        out[y * "
                             "w + x] = s;\n    }\n"));
    EXPECT_TRUE(text.contains("        #pragma unroll 2\n        for (int j = 0; j < w; ++j) {\n"
                              "            float b = in[j * w + x];\n            float a0 = in[y * "
                              "w + j];\n            float a1 = in[(y + 1) * w + j];\n"))
        << text;
    EXPECT_TRUE(
        text.contains("            if (a3 > 0)\n                s3 += a3 * b;\n        }\n"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(ThreadCoarsening, CountsTheLoadsThatRowsShare) {
    const Subject subject = parseSubject(product());
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 4);
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 8.0 / 5.0);
    EXPECT_EQ(offeredNumerics(id, product()), Numerics::Exact);
}

TEST(ThreadCoarsening, IsAboutTheBoundsCheck) {
    checkTarget(id,
                kernel(indices + "    if (y < h)\n        out[y * w + x] = in[x] + in[x + w];\n"),
                "if (y < h)\n        out[y * w + x] = in[x] + in[x + w];");
}

class ThreadCoarseningIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(ThreadCoarseningIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string guarded(const std::string& work, const std::string& condition = "x < w && y < h") {
    return kernel(indices + "    if (" + condition + ")\n        " + work + "\n");
}

const std::string shared = "out[y * w + x] = in[x];";

INSTANTIATE_TEST_SUITE_P(
    Gates, ThreadCoarseningIsNotOffered,
    testing::Values(
        GateCase{"NoIndex", "no-rows", kernel("    out[threadIdx.x] = in[threadIdx.x];\n")},
        GateCase{
            "FlatIndex", "moves-lanes-apart",
            kernel("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < w)\n        "
                   "out[i] = in[i];\n")},
        GateCase{"CoalescedInALoop", "moves-lanes-apart",
                 pairs("in[j * w + i] * in[j]", "(w + 255) / 256")},
        GateCase{"StoresInALoop", "moves-lanes-apart",
                 pairs("(out[j * w + i] = in[j])", "(w + 255) / 256")},
        GateCase{"FewPairs", "too-few-blocks", pairs("in[j]", "1000")},
        GateCase{"NoGuard", "no-bounds-guard", kernel(indices + "    " + shared + "\n")},
        GateCase{"OddGuard", "compound-guard", guarded(shared, "x < w && y * 2 < h")},
        GateCase{"Copy", "rows-share-nothing", guarded("out[y * w + x] = in[y * w + x];")},
        GateCase{"MayAlias", "rows-share-nothing",
                 kernel(indices + "    if (x < w && y < h)\n        out[y * w + x] = *(in + x);\n",
                        "dim3((w + 31) / 32, (h + 7) / 8)", "const float* in, float* out")},
        GateCase{"RaggedLoop", "rows-share-nothing",
                 guarded("for (int j = 0; j < y; ++j) out[y * w + x] += in[j * w + x];")},
        GateCase{"Atomic", "atomic", guarded("atomicAdd(&out[y], in[x]);")},
        GateCase{"Barrier", "barrier", guarded("{ " + shared + " __syncthreads(); }")},
        GateCase{"ThreadInWork", "uses-thread-position", guarded("out[threadIdx.y] = in[x];")},
        GateCase{"SmallGrid", "too-few-blocks", product("dim3(4, 8)")},
        GateCase{"GridOfOneWave", "too-few-blocks", product("dim3(32, 36)")},
        GateCase{"OneDimensionalGrid", "launch-grid", product("64")},
        GateCase{"FunctionPointer", "kernel-named-elsewhere",
                 product() + "void (*pointer)(const float*, float*, int, int) = k;\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
