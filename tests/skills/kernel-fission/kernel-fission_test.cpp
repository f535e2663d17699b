#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "kernel-fission";

/// A kernel of `body`, launched by `launch`.
std::string
kernel(const std::string& body,
       const std::string& launch = "    both<<<(n + 127) / 128, 128>>>(a, b, c, n);\n") {
    return "__global__ void both(const float* a, float* b, float* c, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body + "}\nvoid run(const float* a, float* b, float* c, int n) {\n" + launch + "}\n";
}

const std::string rows = "    float row = 0;\n    for (int j = 0; j < n; ++j)\n"
                         "        row += a[i * n + j];\n    b[i] = row;\n";
const std::string columns = "    float column = 0;\n    for (int j = 0; j < n; ++j)\n"
                            "        column += a[j * n + i];\n    c[i] = column;\n";
const std::string guard = "    if (i >= n)\n        return;\n";

TEST(KernelFission, KeepsReturnsAndWhatEachPartUses) {
    const std::string text = appliedText(
        id, kernel("    const int far = 2 * i; // of the columns\n" + guard + rows +
                       "    // now the columns\n    float column = far;\n"
                       "#pragma unroll 4\n    for (int j = 0; j < n; ++j)\n"
                       "        column += a[j * n + i];\n    c[i] = column;\n",
                   "    if (n > 1) {\n        both<<<n, 128, 0, 0>>>(a, b, c, n); // twice\n"
                   "    }\n"));
    EXPECT_TRUE(
        text.contains("__global__ void bothFirst(const float* a, float* b, float* c, int n) "
                      "{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                      guard + rows + "    // now the columns\n}\n"))
        << text;
    EXPECT_TRUE(text.contains("__global__ void bothRest(const float* a, float* b, float* c, int n) "
                              "{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "    const int far = 2 * i; // of the columns\n" +
                              guard +
                              "    // now the columns\n    float column = far;\n"
                              "#pragma unroll 4\n"))
        << text;
    EXPECT_TRUE(text.contains("        bothFirst<<<n, 128, 0, 0>>>(a, b, c, n);\n"
                              "        bothRest<<<n, 128, 0, 0>>>(a, b, c, n); // twice\n"))
        << text;
    EXPECT_TRUE(text.contains("__global__ void both(const")) << text;
}

TEST(KernelFission, LeavesOutTheBarrierBetweenTheParts) {
    const std::string text =
        appliedText(id, kernel("    __shared__ float part[128];\n" + rows +
                               "    __syncthreads();\n    part[threadIdx.x] = a[i];\n"
                               "    __syncthreads();\n    float sum = 0;\n"
                               "    for (int j = 0; j < 128; ++j)\n        sum += part[j];\n"
                               "    c[i] = sum;\n"));
    EXPECT_TRUE(text.contains("    b[i] = row;\n}\n\n__global__ void bothRest")) << text;
    EXPECT_TRUE(text.contains("threadIdx.x;\n    __shared__ float part[128];\n"
                              "    part[threadIdx.x] = a[i];\n    __syncthreads();\n"))
        << text;
}

TEST(KernelFission, TakesTemplatesAndAllLaunches) {
    std::string source = "template <typename T>\n" +
                         kernel(guard + rows + columns, "    both<float><<<n, 128>>>(a, b, c, n);\n"
                                                        "    both<int><<<n, 128>>>(a, c, b, n);\n");
    const std::string text = appliedText(id, source);
    EXPECT_TRUE(text.contains("template <typename T>\n__global__ void bothFirst(")) << text;
    EXPECT_TRUE(text.contains("    bothFirst<float><<<n, 128>>>(a, b, c, n);\n"
                              "    bothRest<float><<<n, 128>>>(a, b, c, n);\n"
                              "    bothFirst<int><<<n, 128>>>(a, c, b, n);\n"
                              "    bothRest<int><<<n, 128>>>(a, c, b, n);\n"))
        << text;
}

TEST(KernelFission, TakesRegistersForAReason) {
    const std::string source = kernel(guard + columns +
                                      "    column = 0;\n"
                                      "    for (int j = 0; j < n; ++j)\n"
                                      "        column += a[j];\n"
                                      "    b[i] = column;\n");
    checkNotApplicable(id, source, "no-reason");
    CompiledKernel compiled;
    compiled.architecture = "sm_90";
    compiled.registers = 200;
    compiled.blockThreads = 128;
    compiled.occupancy = compiled.occupancyOf(compiled.resources());
    ASSERT_TRUE(compiled.occupancy);
    EXPECT_TRUE(appliedText(id, source, compiled).contains("bothRest<<<"));
}

TEST(KernelFission, NamesTheKernelAndNotItsNamespace) {
    const std::string text = appliedText(
        id, "namespace allboth {\n" +
                kernel(guard + rows + columns, "    allboth::both<<<n, 128>>>(a, b, c, n);\n") +
                "}\n");
    EXPECT_TRUE(text.contains("    allboth::bothFirst<<<n, 128>>>(a, b, c, n);\n"
                              "    allboth::bothRest<<<n, 128>>>(a, b, c, n);\n"))
        << text;
}

class KernelFissionGates : public testing::TestWithParam<GateCase> {};

TEST_P(KernelFissionGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    All, KernelFissionGates,
    testing::Values(
        GateCase{"OneLoop", "one-part", kernel(guard + rows)},
        GateCase{"ValueCrosses", "value-crosses",
                 kernel(guard + rows +
                        "    float column = row;\n    for (int j = 0; j < n; ++j)\n"
                        "        column += a[j * n + i];\n    c[i] = column;\n")},
        GateCase{"LoadedValueCrosses", "value-crosses",
                 kernel(guard + "    float scale = b[i];\n" + rows +
                        "    float column = 0;\n    for (int j = 0; j < n; ++j)\n"
                        "        column += scale * a[j * n + i];\n    c[i] = column;\n")},
        GateCase{"CounterCrosses", "value-crosses",
                 kernel("    int j = 0;\n    float sum = 0;\n    for (; j < n; ++j)\n"
                        "        sum += a[i * n + j];\n    b[i] = sum;\n"
                        "    float more = 0;\n    for (; j < 2 * n; ++j)\n"
                        "        more += a[j * n + i];\n    c[i] = more;\n")},
        GateCase{"SharedMemory", "shared-memory-crosses",
                 kernel("    __shared__ float part[128];\n" + rows +
                        "    part[threadIdx.x] = row;\n    __syncthreads();\n"
                        "    float sum = 0;\n    for (int j = 0; j < 128; ++j)\n"
                        "        sum += part[j];\n    c[i] = sum;\n")},
        GateCase{"LeavesBetween", "early-exit",
                 kernel(guard + rows + "    if (b[i] > 1)\n        return;\n" + columns)},
        GateCase{"Call", "unknown-call",
                 "__device__ void note(float* x);\n" +
                     kernel(guard + rows + "    note(b);\n" + columns)},
        GateCase{"Fence", "blocks-meet", kernel(rows + "    __threadfence();\n" + columns)},
        GateCase{"Alike", "no-reason",
                 kernel(guard + columns +
                        "    float more = 0;\n"
                        "    for (int j = 0; j < n; ++j)\n"
                        "        more += a[j];\n"
                        "    b[i] = more;\n")},
        GateCase{"ArgumentActs", "argument-acts",
                 kernel(guard + rows + columns, "    both<<<n, 128>>>(a, b, c, n++);\n")},
        GateCase{"Branch", "launch-in-branch",
                 kernel(guard + rows + columns,
                        "    if (n > 1)\n        both<<<n, 128>>>(a, b, c, n);\n")},
        GateCase{"NoLaunch", "no-launch", kernel(guard + rows + columns, "")}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
