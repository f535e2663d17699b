#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view id = "kernel-fusion";

/// Two kernels, and a function with allocations a to d that launches them; the cursor is at the
/// first one.
std::string program(const std::string& kernels, const std::string& launches) {
    std::string text = "#include <cuda_runtime.h>\n#define CHECK(call) (void)(call)\n" + kernels +
                       "void run(int n, int m, cudaStream_t stream, cudaStream_t other) {\n"
                       "    float *a, *b, *c, *d;\n"
                       "    cudaMalloc(&a, n * 4);\n    cudaMalloc(&b, n * 4);\n"
                       "    cudaMalloc(&c, n * 4);\n    cudaMalloc(&d, n * 4);\n" +
                       launches + "}\n";
    return text.insert(text.find("__global__ void ") + 16, "$0");
}

const std::string twice = "__global__ void twice(const float* x, float* y, int n) {\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i >= n)\n        return;\n"
                          "    y[i] = 2.0f * x[i];\n}\n";
const std::string plus = "__global__ void plus(const float* y, const float* x, float* z, int n) {\n"
                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    if (i >= n)\n        return;\n"
                         "    z[i] = y[i] + x[i];\n}\n";
const std::string both = "    twice<<<(n + 255) / 256, 256>>>(a, b, n);\n"
                         "    plus<<<(n + 255) / 256, 256>>>(b, a, c, n);\n";

TEST(KernelFusion, WritesACommonEarlyReturnOnce) {
    const std::string text = appliedText(id, program(twice + plus, both));
    EXPECT_THAT(text, HasSubstr("__global__ void twicePlus(const float* x, float* y, int n, float* "
                                "z) {\n"
                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    if (i >= n)\n        return;\n"
                                "    y[i] = 2.0f * x[i];\n"
                                "    z[i] = y[i] + x[i];\n}\n"));
    EXPECT_THAT(text, HasSubstr("    twicePlus<<<(n + 255) / 256, 256>>>(a, b, n, c);\n}\n"));
    EXPECT_THAT(text, HasSubstr(twice.substr(twice.find("void"))));
}

TEST(KernelFusion, IsOfferedAtTheSecondKernelToo) {
    std::string source = program(twice + plus, both);
    source.erase(source.find("$0"), 2);
    EXPECT_THAT(appliedText(id, source.insert(source.find("plus("), "$0")),
                HasSubstr("twicePlus<<<"));
}

TEST(KernelFusion, MakesAGuardOfAnEarlyReturnThatOnlyTheFirstHas) {
    const std::string ends = "__global__ void ends(float* y, int m) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < m)\n        y[i] += 1.0f;\n}\n";
    const std::string text =
        appliedText(id, program(twice + ends, "    twice<<<n / 256, 256>>>(a, b, n);\n"
                                              "    ends<<<n / 256, 256>>>(b, m);\n"));
    EXPECT_THAT(text, HasSubstr("__global__ void twiceEnds(const float* x, float* y, int n, int m) "
                                "{\n"
                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    if (i < n) {\n"
                                "        y[i] = 2.0f * x[i];\n"
                                "    }\n"
                                "    if (i < m)\n        y[i] += 1.0f;\n}\n"));
}

TEST(KernelFusion, RenamesWhatMeansSomethingElse) {
    const std::string first = "__global__ void scale_rows(float* m, int width, int height)\n{\n"
                              "\tint x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "\tint y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                              "\tif (x < width && y < height)\n\t{\n"
                              "\t\tfloat v = m[y * width + x];\n"
                              "\t\tm[y * width + x] = v * y;\n\t}\n}\n";
    const std::string second = "__global__ void clamp_rows(float* data, int w, int h, float v)\n{\n"
                               "\tint col = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "\tint row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                               "\tif (col < w && row < h)\n\t{\n"
                               "\t\tdata[row * w + col] = fminf(data[row * w + col], v);\n\t}\n}\n";
    const std::string text =
        appliedText(id, program(first + second,
                                "    dim3 block(32, 8);\n"
                                "    dim3 grid((n + 31) / 32, (m + 7) / 8);\n"
                                "    scale_rows<<<grid, block, 0, stream>>>(a, n, m);\n"
                                "    clamp_rows<<<grid, block, 0, stream>>>(a, n, m, 1.0f);\n"));
    EXPECT_THAT(text,
                HasSubstr("__global__ void scale_clamp_rows(float* m, int width, int height, float "
                          "v2)\n{\n"
                          "\tint x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "\tint y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                          "\tif (x < width && y < height)\n\t{\n"
                          "\t\tfloat v = m[y * width + x];\n"
                          "\t\tm[y * width + x] = v * y;\n"
                          "\t\tm[y * width + x] = fminf(m[y * width + x], v2);\n"
                          "\t}\n}\n"));
    EXPECT_THAT(text, HasSubstr("scale_clamp_rows<<<grid, block, 0, stream>>>(a, n, m, 1.0f);\n"));
}

TEST(KernelFusion, FollowsLoopsOfAThreadsOwnRow) {
    const std::string rows = "__global__ void forward(int n, float* x) {\n"
                             "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (row < n)\n"
                             "        for (int k = 1; k < n; k++)\n            x[row * n + k] -= "
                             "x[row * n + k - 1];\n}\n"
                             "__global__ void backward(int n, float* x) {\n"
                             "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (row < n)\n"
                             "        for (int k = n - 2; k > 0; k--)\n            x[row * n + k] "
                             "-= x[row * n + k + 1];\n"
                             "}\n";
    EXPECT_THAT(appliedText(id, program(rows, "    forward<<<n / 64, 64>>>(n, a);\n"
                                              "    backward<<<n / 64, 64>>>(n, a);\n")),
                HasSubstr("    if (row < n) {\n"
                          "        for (int k = 1; k < n; k++)\n"
                          "            x[row * n + k] -= x[row * n + k - 1];\n"
                          "        for (int k = n - 2; k > 0; k--)\n"
                          "            x[row * n + k] -= x[row * n + k + 1];\n"
                          "    }\n}\n"));
}

TEST(KernelFusion, FollowsGridStrideLoopsAndTemplates) {
    const std::string kernels =
        "template <int step> __global__ void fill(float* out, float value, size_t n) {\n"
        "    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
        "gridDim.x)\n        out[i] = value;\n}\n"
        "template <int step> __global__ void axpy(const float* in, float* out, float by, size_t n) "
        "{\n"
        "    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
        "gridDim.x)\n        out[i] += by * in[i] * step;\n}\n";
    std::string source = program(kernels, "    fill<4><<<128, 256>>>(b, 1.0f, n);\n"
                                          "    CHECK(cudaGetLastError());\n"
                                          "    axpy<4><<<128, 256>>>(a, b, 2.0f, n);\n"
                                          "    CHECK(cudaGetLastError());\n");
    const std::string text = appliedText(id, source);
    EXPECT_THAT(text, HasSubstr("template <int step> __global__ void fillAxpy(float* out, float "
                                "value, size_t n, const float* in,\n" +
                                std::string(45, ' ') + "float by) {\n"));
    EXPECT_THAT(text, HasSubstr("        out[i] = value;\n"
                                "    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x;"));
    EXPECT_THAT(text, HasSubstr("    fillAxpy<4><<<128, 256>>>(b, 1.0f, n, a, 2.0f);\n"
                                "    CHECK(cudaGetLastError());\n}\n"));
}

TEST(KernelFusion, KeepsAWaitInBetweenBeforeTheOneLaunch) {
    const std::string text =
        appliedText(id, program(twice + plus, "    for (int t = 0; t < 10; t++) {\n"
                                              "        twice<<<n / 256, 256>>>(a, b, n);\n"
                                              "        cudaDeviceSynchronize();\n"
                                              "        plus<<<n / 256, 256>>>(b, a, c, n);\n"
                                              "        cudaDeviceSynchronize();\n    }\n"));
    EXPECT_THAT(text, HasSubstr("t++) {\n"
                                "        cudaDeviceSynchronize();\n"
                                "        twicePlus<<<n / 256, 256>>>(a, b, n, c);\n"
                                "        cudaDeviceSynchronize();\n    }\n"));
}

TEST(KernelFusion, StandsBehindWhatTheSecondLaunchNeeds) {
    const std::string text =
        appliedText(id, program(twice + plus, "    twice<<<n / 256, 256>>>(a, b, n);\n"
                                              "    int all = n;\n"
                                              "    plus<<<n / 256, 256>>>(b, a, c, all);\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("    int all = n;\n"
                                      "    twicePlus<<<n / 256, 256>>>(a, b, n, c, all);\n"),
                            Not(HasSubstr("    twice<<<"))));
}

TEST(KernelFusion, TakesAwayConstOfWhatTheSecondKernelWrites) {
    const std::string update = "__global__ void update(float* x, const float* y, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i >= n)\n        return;\n"
                               "    x[i] -= y[i];\n}\n";
    EXPECT_THAT(
        appliedText(id, program(twice + update, "    twice<<<n / 256, 256>>>(a, b, n);\n"
                                                "    update<<<n / 256, 256>>>(a, b, n);\n")),
        HasSubstr("__global__ void twiceUpdate(float* x, float* y, int n) {\n"));
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), by);
}

class KernelFusionGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(KernelFusionGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

const std::string shifted = replaced(plus, "y[i] + x[i]", "y[i + 1] + x[i]");

INSTANTIATE_TEST_SUITE_P(
    Gates, KernelFusionGates,
    ::testing::Values(
        GateCase{"NoLaunch", "no-launch", program(twice + plus, "")},
        GateCase{"NoNeighbour", "no-neighbour",
                 program(twice + plus, both.substr(0, both.find("    plus")))},
        GateCase{"HostWorkBetween", "host-work-between",
                 program(twice + plus,
                         replaced(both, "    plus",
                                  "    cudaMemcpy(b, a, 4, cudaMemcpyDeviceToDevice);\n    plus"))},
        GateCase{"WaitsBetween", "waits-between",
                 program(twice + plus,
                         replaced(both, "    plus", "    cudaDeviceSynchronize();\n    plus"))},
        GateCase{"HostNotFollowed", "host-not-followed",
                 program(twice + plus,
                         both + "    cudaLaunchKernel((void*)twice, dim3(1), dim3(1), nullptr, 0, "
                                "0);\n")},
        GateCase{"ArgumentActs", "argument-acts",
                 program(twice + plus, replaced(both, "(b, a, c, n)", "(b, a, c, n++)"))},
        GateCase{"OtherGrid", "other-configuration",
                 program(twice + plus, replaced(both, "plus<<<(n + 255)", "plus<<<(m + 255)"))},
        GateCase{"OtherStream", "other-configuration",
                 program(twice + plus, replaced(both, "256>>>(b, a", "256, 0, stream>>>(b, a"))},
        GateCase{"OtherSharedMemory", "shared-memory-size",
                 program(twice + plus, replaced(both, "256>>>(b, a", "256, 1024>>>(b, a"))},
        GateCase{"SameKernel", "same-kernel",
                 program(twice, "    twice<<<n / 256, 256>>>(a, b, n);\n"
                                "    twice<<<n / 256, 256>>>(b, c, n);\n")},
        GateCase{"DefinedLater", "defined-later",
                 program(twice + "__global__ void plus(const float*, const float*, float*, int);\n",
                         both) +
                     plus},
        GateCase{"KernelOfAMacro", "kernel-elsewhere",
                 program(twice + "#define FILL(name) __global__ void name(const float* y, const "
                                 "float* x, float* z, int n) { z[threadIdx.x] = y[threadIdx.x]; }\n"
                                 "FILL(plus)\n",
                         both)},
        GateCase{"ScopesDiffer", "scopes-differ",
                 program(twice + "namespace more {\n" + plus + "}\nusing more::plus;\n", both)},
        GateCase{"HeadsDiffer", "heads-differ",
                 program(replaced(twice, "__global__", "__global__ __launch_bounds__(256)") +
                             replaced(plus, "__global__", "static __global__"),
                         both)},
        GateCase{"DefaultArgument", "default-argument",
                 program(twice + replaced(plus, "int n)", "int n = 4)"),
                         replaced(both, "(b, a, c, n)", "(b, a, c)"))},
        GateCase{"ReadsNeighbours", "reads-other-threads", program(twice + shifted, both)},
        GateCase{"SharesOneElement", "reads-other-threads",
                 program(replaced(twice, "y[i] =", "y[0] =") + plus, both)},
        GateCase{"ReadsByData", "reads-other-threads",
                 program(twice + replaced(plus, "y[i] +", "y[(int)x[i]] +"), both)},
        GateCase{"RedundantThreads", "redundant-threads",
                 program(twice + plus, "    twice<<<64, dim3(32, 4)>>>(a, b, n);\n"
                                       "    plus<<<64, dim3(32, 4)>>>(b, a, c, n);\n")},
        GateCase{"UnknownMemory", "unknown-effects",
                 program("__global__ void twice(float** x, int n) {\n"
                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    if (i < n)\n        x[0][i] = 1.0f;\n}\n" +
                             plus,
                         "    float** all;\n    cudaMalloc(&all, 8);\n" +
                             replaced(both, "(a, b, n)", "(all, n)"))},
        GateCase{"UnknownEffects", "unknown-effects",
                 program("#include <cstdio>\n" +
                             replaced(twice, "    y[i]",
                                      "    printf(\"\");\n    "
                                      "y[i]") +
                             plus,
                         both)},
        GateCase{"MayAlias", "may-alias",
                 program(twice + plus, replaced(both, "(b, a, c, n)", "(a, d, b + 1, n)"))},
        GateCase{"PointerNotMerged", "pointer-not-merged",
                 program(twice + replaced(plus, "    int i", "    z += 0;\n    int i"),
                         replaced(both, "(b, a, c, n)", "(a, d, b, n)"))},
        GateCase{"SharedMemory", "shared-memory",
                 program(replaced(twice, "    int i",
                                  "    __shared__ float s[32];\n    s[threadIdx.x "
                                  "% 32] = 0;\n    int i") +
                             replaced(plus, "    int i",
                                      "    __shared__ float s[32];\n    "
                                      "s[threadIdx.x % 32] = 0;\n    int i"),
                         both)},
        GateCase{"ReadOnlyLoad", "read-only-load",
                 program(twice + replaced(plus, "y[i] +", "__ldg(&y[i]) +"), both)},
        GateCase{"EarlyExit", "early-exit",
                 program(replaced(twice, "    y[i]",
                                  "    for (int k = 0; k < n; k++)\n        if (x[i] < k)\n"
                                  "            return;\n    y[i]") +
                             plus,
                         both)},
        GateCase{"BarrierBehindAnEarlyExit", "early-exit",
                 program(replaced(twice, "    y[i]", "    __syncthreads();\n    y[i]") +
                             replaced(plus, "i >= n", "i >= n - 1"),
                         both)},
        GateCase{"DefaultBeforeOthers", "default-argument",
                 program(replaced(twice, "int n)", "int n = 4)") + plus, both)},
        GateCase{"FunctionOfThatName", "name-clash",
                 program(replaced(twice, "    y[i] = 2.0f",
                                  "    float fabsf = 2.0f;\n    y[i] = "
                                  "fabsf") +
                             replaced(plus, "y[i] +", "fabsf(y[i]) +"),
                         both)},
        GateCase{"NameClash", "name-clash",
                 program("__constant__ float bias;\n" +
                             replaced(twice, "    y[i] = 2.0f",
                                      "    float bias = 2.0f;\n    y[i] = "
                                      "bias") +
                             replaced(plus, "y[i] +", "y[i] + bias +"),
                         both)},
        GateCase{"NameInMacro", "name-in-macro",
                 program("#define COUNT len\n" + twice +
                             replaced(replaced(plus, "int n)", "int len)"), "i >= n", "i >= COUNT"),
                         both)},
        GateCase{"NothingShared", "nothing-shared",
                 program("__global__ void twice(float* x, int n) {\n"
                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    for (int k = 0; k < n; k++)\n        x[i] += k;\n}\n" +
                             plus,
                         "    twice<<<n / 256, 256>>>(d, n);\n"
                         "    plus<<<n / 256, 256>>>(b, a, c, n);\n")}),
    [](const auto& test) { return test.param.name; });

TEST(KernelFusion, RefusesKernelsOfTooManyAccesses) {
    std::string many = "__global__ void many(const float* x, float* y) {\n"
                       "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
    for (int k = 0; k < 70; ++k)
        many += "    y[i] += x[i];\n";
    many += "}\n";
    const std::string source =
        program(many + replaced(many, "many(", "more("), "    many<<<n / 256, 256>>>(a, b);\n"
                                                         "    more<<<n / 256, 256>>>(b, c);\n");
    checkNotApplicable(id, source, "many-accesses");
}

TEST(KernelFusion, TellsTheBytesThatAreSaved) {
    const Subject subject = parseSubject(program(twice + plus, both));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 20.0 / 12.0);
    EXPECT_THAT(offer->why, HasSubstr("reads of y only what its own thread of twice wrote"));
}

} // namespace
} // namespace kernelskill::skills
