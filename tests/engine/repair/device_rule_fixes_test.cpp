/// Repairs files that libclang accepts but nvcc, ptxas or the driver refuse: no finding may remain.
#include "engine/repair/compile_diagnoser.h"
#include "tests/engine/breakage.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::RepairBench;

struct DeviceFix {
    const char* name;
    const char* cause;
    std::vector<std::string> flags;
    const char* text;
    std::vector<const char*> expected; ///< The repaired text holds each.
};

std::ostream& operator<<(std::ostream& out, const DeviceFix& one) {
    return out << one.name;
}

const std::vector<DeviceFix> deviceFixes{
    {"ShuffleWithoutMask",
     "removed-warp-function",
     {"-arch=sm_80"},
     "__global__ void k(float* y) { y[0] = __shfl_xor(y[threadIdx.x], 1); }\n",
     {"__shfl_xor_sync(0xffffffff, y[threadIdx.x], 1)"}},
    {"VoteOfSomeLanes",
     "removed-warp-function",
     {"-arch=sm_80"},
     "__global__ void k(int* y) {\n    if (threadIdx.x < 7)\n        y[threadIdx.x] = "
     "__ballot(y[threadIdx.x] > 0);\n}\n",
     {"__ballot_sync(__activemask(), y[threadIdx.x] > 0)"}},
    {"EveryVote",
     "removed-warp-function",
     {"-arch=sm_90"},
     "__global__ void k(int* y) { y[0] = __any(y[threadIdx.x]) + __all(y[threadIdx.x]); }\n",
     {"__any_sync(0xffffffff, y", "__all_sync(0xffffffff, y"}},

    {"SharedArrayOf80000Bytes",
     "static-shared-size",
     {"-arch=sm_80"},
     "__global__ void k(float* y) {\n    __shared__ float a[20000];\n"
     "    a[threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n"
     "    y[threadIdx.x] = a[threadIdx.x ^ 1];\n}\n"
     "void run(float* y) {\n    k<<<1, 256>>>(y);\n}\n",
     {"    extern __shared__ float a[];\n",
      "    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000);\n"
      "    k<<<1, 256, 80000>>>(y);\n"}},
    {"SharedArrayOfTwoExtents",
     "static-shared-size",
     {"-arch=sm_80"},
     "constexpr int width = 128;\n"
     "__global__ void k(float* y) {\n    __shared__ float a[128][width + 1];\n"
     "    a[threadIdx.y][threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n"
     "    y[threadIdx.x] = a[threadIdx.x][threadIdx.y];\n}\n"
     "void run(float* y) {\n    k<<<1, dim3(32, 32), 0>>>(y);\n}\n",
     {"    extern __shared__ float aValues[];\n"
      "    auto* a = reinterpret_cast<float (*)[width + 1]>(aValues);\n",
      "k<<<1, dim3(32, 32), 66048>>>(y)"}},

    {"BlockOfAConstant",
     "launch-block-size",
     {},
     "constexpr int threads = 2048;\n"
     "__global__ void k(float* y, int n) {\n    int i = blockIdx.x * threads + threadIdx.x;\n"
     "    if (i < n) y[i] = 1;\n}\n"
     "void run(float* y, int n) { k<<<(n + threads - 1) / threads, threads>>>(y, n); }\n",
     {"constexpr int threads = 1024;"}},
    {"BlockOfTwoMacros",
     "launch-block-size",
     {},
     "#define TILE 64\n"
     "__global__ void k(float* y, int n) {\n"
     "    int i = blockIdx.x * TILE + threadIdx.x;\n    if (i < n) y[i] = 1;\n}\n"
     "void run(float* y, int n) {\n    dim3 block(TILE, TILE);\n"
     "    k<<<(n + TILE - 1) / TILE, block>>>(y, n);\n}\n",
     {"#define TILE 32"}},
    {"BlockOfANumberThatTheGridDividesBy",
     "launch-block-size",
     {},
     "__global__ void k(float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
     "    if (i < n) y[i] = 1;\n}\n"
     "void run(float* y, int n) { k<<<(n + 2047) / 2048, 2048>>>(y, n); }\n",
     {"k<<<(n + 1023) / 1024, 1024>>>(y, n)"}},
    {"LaunchBoundsOf2048",
     "launch-bounds-size",
     {},
     "__global__ void __launch_bounds__(2048, 1) k(float* y) { y[threadIdx.x] = 1; }\n",
     {"__launch_bounds__(1024, 1)"}},
    {"BlockBeyondItsLaunchBounds",
     "launch-exceeds-bounds",
     {},
     "__global__ void __launch_bounds__(128) k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { k<<<1, 256>>>(y); }\n",
     {"__launch_bounds__(256)", "k<<<1, 256>>>(y)"}},

    {"AtomicOfDoubles",
     "unsupported-atomic",
     {"-arch=sm_52"},
     "#include <cstdio>\n__global__ void k(double* sum, double v) { atomicAdd(sum, v); }\n",
     {"#include <cstdio>\n\n__device__ inline double atomicAddDouble(double* address",
      "{ atomicAddDouble(sum, v); }"}},

    {"IndexInAFunctionForTheDevice",
     "index-in-host-code",
     {},
     "int position() { return threadIdx.x; }\n",
     {"__device__ int position()"}},
    {"IndexInAKernelWithoutGlobal",
     "index-in-host-code",
     {},
     "void fill(float* y) { y[threadIdx.x] = 1; }\n",
     {"__global__ void fill"}},
    {"BlockDimInTheFunctionThatLaunches",
     "index-in-host-code",
     {},
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "int run(float* y) {\n    dim3 block(64, 2);\n    k<<<1, block>>>(y);\n"
     "    return blockDim.x;\n}\n",
     {"return block.x;"}},

    {"ConstexprOfTheHost",
     "relaxed-constexpr-flag",
     {"-O3"},
     "constexpr int square(int x) { return x * x; }\n"
     "__global__ void k(int* y) { y[threadIdx.x] = square(y[threadIdx.x]); }\n",
     {"__host__ __device__ constexpr int square"}},
    {"ConstexprOfTheHostInAnExtent",
     "relaxed-constexpr-flag",
     {"-O3"},
     "constexpr int square(int x) { return x * x; }\n"
     "__global__ void k(int* y) {\n    __shared__ int z[square(2)];\n"
     "    z[0] = square(y[1]);\n    y[0] = z[0];\n}\n",
     {"__host__ __device__ constexpr int square", "int z[square(2)]"}},
    {"MaximumOfTheLibrary",
     "relaxed-constexpr-flag",
     {"-O3"},
     "#include <algorithm>\n"
     "__global__ void k(int* y) { y[threadIdx.x] = std::max(y[threadIdx.x], 3); }\n",
     {"= max(y[threadIdx.x], 3)"}},
    {"ClampOfTheLibrary",
     "relaxed-constexpr-flag",
     {"-O3"},
     "#include <algorithm>\n"
     "__global__ void k(int* y) { y[threadIdx.x] = std::clamp(y[threadIdx.x], 0, 3); }\n",
     {"= min(max(y[threadIdx.x], 0), 3)"}},

    {"LambdaOfTheHost",
     "lambda-without-device",
     {"--extended-lambda"},
     "template <class F> __global__ void apply(F f) { f(threadIdx.x); }\n"
     "void run(float* y) { apply<<<1, 64>>>([=](int i) { y[i] = i; }); }\n",
     {"[=] __device__(int i)"}},
    {"LambdaOfTheHostByReference",
     "captured-reference",
     {"--extended-lambda"},
     "template <class F> __global__ void apply(F f) { f(threadIdx.x); }\n"
     "void run(float* y) {\n    auto f = [&](int i) { y[i] = i; };\n    apply<<<1, 64>>>(f);\n}\n",
     {"[=] __device__(int i)"}},
    {"CaptureByReference",
     "captured-reference",
     {},
     "template <class F> __global__ void apply(F f) { f(threadIdx.x); }\n"
     "void run(float* y) { apply<<<1, 64>>>([&] __device__(int i) { y[i] = i; }); }\n",
     {"[=] __device__(int i)"}},

    {"Dim3OfAComma",
     "dim3-comma",
     {},
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { dim3 block = (16, 16); k<<<(2, 2), block>>>(y); }\n",
     {"dim3 block(16, 16);", "k<<<dim3(2, 2), block>>>"}},
    {"ExternArrayWithASize",
     "sized-extern-shared",
     {},
     "__global__ void k(float* y) {\n    extern __shared__ float a[256];\n"
     "    a[threadIdx.x] = y[0];\n    y[threadIdx.x] = a[0];\n}\n",
     {"    __shared__ float a[256];"}},
    {"ExternArrayWithASizeAndItsFlags",
     "sized-extern-shared",
     {"-O3"},
     "__global__ void k(float* y) {\n    extern __shared__ float a[256];\n"
     "    a[threadIdx.x] = y[0];\n    y[threadIdx.x] = a[0];\n}\n",
     {"    __shared__ float a[256];"}},
    {"OneDynamicArrayOfTwoTypes",
     "shared-name-twice",
     {},
     "__global__ void k(float* y) { extern __shared__ float a[]; y[threadIdx.x] = a[0]; }\n"
     "__global__ void l(int* y) { extern __shared__ int a[]; y[threadIdx.x] = a[0]; }\n",
     {"extern __shared__ float a[]; y", "auto* a = reinterpret_cast<int*>(aBytes)"}},
};

class DeviceFixes : public ::testing::TestWithParam<DeviceFix> {};

TEST_P(DeviceFixes, LeaveNothingToFind) {
    const DeviceFix& tested = GetParam();
    RepairBench bench;
    bench.command = analysis::translateArguments(tested.flags, "/nowhere");
    if (!tested.flags.empty())
        bench.command.origin = analysis::CommandOrigin::FlagsFile;
    const Repair repair = bench.repaired(tested.text);
    ASSERT_FALSE(repair.applied.empty());
    EXPECT_EQ(repair.applied.front().failure.cause, tested.cause);
    EXPECT_FALSE(repair.applied.front().failure.explanation.empty());
    EXPECT_EQ(repair.errorsAfter, 0u) << repair.text;
    EXPECT_TRUE(repairTargets(bench.parsed(repair.text).diagnostics).empty()) << repair.text;
    for (const char* expected : tested.expected)
        EXPECT_NE(repair.text.find(expected), std::string::npos) << repair.text;
}

INSTANTIATE_TEST_SUITE_P(, DeviceFixes, ::testing::ValuesIn(deviceFixes),
                         [](const ::testing::TestParamInfo<DeviceFix>& tested) {
                             return tested.param.name;
                         });

TEST(DeviceFix, ABlockOfANumberThatTheGridDoesNotFollowIsLeftAlone) {
    const RepairBench bench;
    EXPECT_TRUE(bench
                    .fixes("__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
                           "void run(float* y) { k<<<1, 2048>>>(y); }\n")
                    .empty());
}

TEST(DeviceFix, AnArrayBeyondWhatTheGpuHasIsLeftAlone) {
    RepairBench bench;
    bench.command.architectures = {"sm_75"};
    EXPECT_TRUE(bench
                    .fixes("__global__ void k(float* y) {\n    __shared__ float a[20000];\n"
                           "    a[threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n"
                           "    y[threadIdx.x] = a[threadIdx.x ^ 1];\n}\n"
                           "void run(float* y) {\n    k<<<1, 256>>>(y);\n}\n")
                    .empty());
}

TEST(DeviceFix, WhatAParseErrorHidIsRepairedAfterIt) {
    const RepairBench bench;
    const Repair repair =
        bench.repaired("__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
                       "void run(float* y) { dim3 block = (16, 16); k<<<1, block>>>(y) }\n");
    EXPECT_EQ(repair.errorsAfter, 0u);
    EXPECT_NE(repair.text.find("dim3 block(16, 16); k<<<1, block>>>(y); }"), std::string::npos)
        << repair.text;
}

} // namespace
} // namespace kernelskill::engine
