#include "tests/engine/static_facts/facts_fixture.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <chrono>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// Each compiler in its turn; where one is not there its tests are skipped.
class StaticFactsOf : public FactsFixture, public ::testing::WithParamInterface<bool> {
protected:
    void SetUp() override {
        FactsFixture::SetUp();
        if (IsSkipped())
            return;
        options_.preferNvcc = GetParam();
        if (GetParam() && !std::filesystem::exists(options_.toolkit->root / "bin" / "nvcc"))
            GTEST_SKIP() << "no nvcc here";
    }

    std::string compilerName() const { return GetParam() ? "nvcc " : "NVRTC "; }
};

INSTANTIATE_TEST_SUITE_P(By, StaticFactsOf, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "nvcc" : "NVRTC"; });

constexpr auto plain = "__global__ void scale(float* x, int n) {\n"
                       "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "    if (i < n)\n"
                       "        x[i] *= 2.0f;\n"
                       "}\n";

/// `n` values of a thread alive at once.
std::string crowded(const std::string& bounds) {
    return "__global__ void " + bounds +
           " crowded(float* p) {\n"
           "    float a[64];\n"
           "    for (int i = 0; i < 64; ++i)\n"
           "        a[i] = p[i * blockDim.x + threadIdx.x];\n"
           "    __syncthreads();\n"
           "    for (int j = 0; j < 64; ++j) {\n"
           "        float t = 0;\n"
           "        for (int i = 0; i < 64; ++i)\n"
           "            t += a[i] * a[(i + j) & 63];\n"
           "        p[j * blockDim.x + threadIdx.x] = t;\n"
           "    }\n"
           "}\n";
}

TEST_P(StaticFactsOf, APlainKernel) {
    const auto facts = factsOf(plain);
    ASSERT_TRUE(facts) << facts.error().describe();
    EXPECT_EQ(facts->symbol, "_Z5scalePfi");
    EXPECT_EQ(facts->architecture, "sm_90");
    EXPECT_THAT(facts->compiler, ::testing::StartsWith(compilerName()));
    EXPECT_GT(facts->registers, 4U);
    EXPECT_LT(facts->registers, 24U);
    EXPECT_EQ(facts->spillStoreBytes + facts->spillLoadBytes + facts->stackBytes, 0U);
    EXPECT_EQ(facts->staticSharedBytes, 0U);
    EXPECT_EQ(facts->barriers, 0U);
    EXPECT_TRUE(facts->notes.empty());
}

TEST_P(StaticFactsOf, VirtualFunctionsAreThoseOfTheWholeText) {
    // Only another kernel names the class whose functions are called.
    const std::string shape = "struct Shape { __device__ virtual float at(int i) const = 0; };\n"
                              "__global__ void sum(Shape** shapes, float* y, int n) {\n"
                              "    int i = threadIdx.x;\n"
                              "    if (i < n)\n"
                              "        y[i] = (*shapes)->at(i);\n"
                              "}\n";
    const std::string round =
        "struct Round : Shape {\n"
        "    __device__ virtual float at(int i) const;\n"
        "    float values[4096];\n"
        "};\n"
        "__device__ float Round::at(int i) const {\n"
        "    float a[64], sum = 0;\n"
        "    for (int k = 0; k < 64; ++k) a[k] = values[i + k];\n"
        "    for (int j = 0; j < 64; ++j)\n"
        "        for (int k = 0; k < 64; ++k) sum += a[k] * a[(k + j) & 63];\n"
        "    return sum;\n"
        "}\n"
        "__global__ void make(Shape** shapes) { *shapes = new Round; }\n";
    const auto alone = factsOf(shape);
    ASSERT_TRUE(alone) << alone.error().describe();
    const auto called = factsOf(shape + round);
    ASSERT_TRUE(called) << called.error().describe();
    EXPECT_EQ(called->symbol, "_Z3sumPP5ShapePfi");
    EXPECT_GT(called->registers, alone->registers + 32);
}

TEST_P(StaticFactsOf, AKernelThatSpills) {
    const auto free = factsOf(crowded(""));
    const auto bound = factsOf(crowded("__launch_bounds__(1024, 2)"));
    ASSERT_TRUE(free) << free.error().describe();
    ASSERT_TRUE(bound) << bound.error().describe();
    EXPECT_EQ(free->spillStoreBytes, 0U);
    EXPECT_GT(free->registers, 64U);
    EXPECT_EQ(bound->registers, 32U);
    EXPECT_GT(bound->spillStoreBytes, 0U);
    EXPECT_GT(bound->spillLoadBytes, 0U);
    EXPECT_GT(bound->stackBytes, 0U);
    EXPECT_EQ(bound->barriers, 1U);
}

TEST_P(StaticFactsOf, TheFlagsOfTheCommand) {
    const auto command = analysis::translateArguments(
        {"-maxrregcount=32", "-DELEMENT=double", "-arch=sm_80"}, "/nowhere");
    const auto program = parse("/nowhere/k.cu",
                               "__global__ void k(ELEMENT* x) {\n"
                               "    __shared__ ELEMENT s[100];\n"
                               "    s[threadIdx.x] = x[threadIdx.x];\n"
                               "    __syncthreads();\n"
                               "    x[threadIdx.x] = s[99 - threadIdx.x];\n"
                               "}\n" +
                                   crowded(""),
                               command);
    const auto& kernels = program.model->kernels;
    ASSERT_EQ(kernels.size(), 2U);
    const auto architecture = targetArchitecture(command, "sm_90");
    EXPECT_EQ(architecture, "sm_80");
    const auto shared = factsOf({program, kernels[0]}, architecture);
    ASSERT_TRUE(shared) << shared.error().describe();
    EXPECT_EQ(shared->architecture, "sm_80");
    EXPECT_EQ(shared->staticSharedBytes, 800U);
    const auto capped = factsOf({program, kernels[1]}, architecture);
    ASSERT_TRUE(capped) << capped.error().describe();
    EXPECT_LE(capped->registers, 32U);
    EXPECT_GT(capped->spillStoreBytes, 0U);
}

TEST_P(StaticFactsOf, ATemplateWithItsArguments) {
    const auto program =
        parse("/nowhere/t.cu",
              "namespace lib { namespace {\n"
              "struct Twice { __device__ float operator()(float x) const { return 2 * x; } };\n"
              "template <typename T, int N, typename F> __global__ void tile(T* x, F f) {\n"
              "    __shared__ T s[N];\n"
              "    s[threadIdx.x] = x[threadIdx.x];\n"
              "    __syncthreads();\n"
              "    x[threadIdx.x] = f(s[N - 1 - threadIdx.x]);\n"
              "}\n"
              "} }\n");
    const auto& kernel = program.model->kernels.at(0);
    for (const auto& [size, bytes] : {std::pair{"64", 256U}, std::pair{"96", 384U}}) {
        const auto facts =
            staticFacts({program, kernel}, {"float", size, "lib::Twice"}, "sm_90", options_, {});
        ASSERT_TRUE(facts) << facts.error().describe();
        EXPECT_EQ(facts->staticSharedBytes, bytes);
    }
}

TEST_P(StaticFactsOf, CodeAmongHostCodeAndHeaders) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "include" / "inner");
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(folder.path() / name) << text;
    };
    write("include/inner/size.h",
          "#pragma once\n#include <vector>\nconstexpr int lanes() { return 32; }\n");
    write("include/math.hpp", "#pragma once\n#include \"inner/size.h\"\n#include <string>\n"
                              "std::string hostOnly();\n"
                              "template <typename T> __device__ T twice(T x) { return x + x; }\n");
    const auto path = folder.path() / "main.cu";
    const auto command =
        analysis::translateArguments({"-I" + (folder.path() / "include").string()}, folder.path());
    const auto program =
        parse(path,
              "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <iostream>\n"
              "#include <cuda_runtime.h>\n#include \"math.hpp\"\n#include \"inner/size.h\"\n"
              "__constant__ float weights[lanes()];\n"
              "static std::string label;\n"
              "__global__ void k(float* x, const uint64_t n) {\n"
              "    __shared__ float s[lanes()];\n"
              "    const auto i = std::min<uint64_t>(threadIdx.x, n);\n"
              "    s[i % lanes()] = std::sqrt(twice(x[i])) + weights[i % lanes()];\n"
              "    __syncthreads();\n"
              "    x[i] = std::isnan(s[0]) ? INFINITY : s[0] * std::pow(x[i], 2);\n"
              "}\n"
              "int main() { std::cout << hostOnly(); k<<<1, 32>>>(nullptr, 0); }\n",
              command);
    const auto facts = factsOf({program, program.model->kernels.at(0)});
    ASSERT_TRUE(facts) << facts.error().describe();
    EXPECT_EQ(facts->staticSharedBytes, 128U);
    EXPECT_EQ(facts->barriers, 1U);
}

TEST_P(StaticFactsOf, CodeThatDoesNotCompileIsAnErrorWithItsLine) {
    const auto facts = factsOf("\n__global__ void k(float* x) {\n    x[0] = missing(1);\n}\n");
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().kind, ErrorKind::Failed);
    EXPECT_EQ(facts.error().where, "/nowhere/kernel.cu:3");
    EXPECT_THAT(facts.error().what, HasSubstr("identifier \"missing\" is undefined"));
}

TEST_P(StaticFactsOf, FunctionsOfOtherFilesAreRefusedByName) {
    const auto facts = factsOf("extern __device__ float other(float);\n"
                               "__global__ void k(float* x) { x[0] = other(x[1]); }\n");
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(facts.error().what, HasSubstr("other(float)"));
    EXPECT_EQ(facts.error().where, "/nowhere/kernel.cu:2");
}

TEST_P(StaticFactsOf, AnArchitectureThatTheToolkitLacksIsNamed) {
    const auto facts = factsOf(plain, "sm_30");
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(facts.error().what, HasSubstr("sm_30"));
    EXPECT_THAT(facts.error().what, HasSubstr("sm_90"));
    EXPECT_EQ(factsOf(plain, "native").error().kind, ErrorKind::InvalidInput);
}

TEST_P(StaticFactsOf, AreCachedByContent) {
    const TemporaryFolder folder;
    options_.cacheDirectory = folder.path();
    ASSERT_TRUE(factsOf(plain));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
    // Host code and blanks behind lines are no part of it. What would compile cannot be started.
    options_.workerExecutable = "/nowhere/worker";
    options_.time = std::chrono::milliseconds(0); // nor nvcc finish
    const auto again = factsOf(std::string(plain) + "int main() { return 0; }\n");
    ASSERT_TRUE(again) << again.error().describe();
    EXPECT_EQ(again->symbol, "_Z5scalePfi");
    const auto changed = factsOf("#define K 3\n" + std::string(plain));
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().kind, ErrorKind::Missing);
}

TEST_P(StaticFactsOf, ALateCompilerIsKilled) {
    const TemporaryFolder folder;
    options_.cacheDirectory = folder.path();
    options_.time = std::chrono::milliseconds(1);
    const auto begin = std::chrono::steady_clock::now();
    const auto facts = factsOf(plain);
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().kind, ErrorKind::Failed);
    EXPECT_THAT(facts.error().what, HasSubstr("timed out"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_P(StaticFactsOf, AStopIsHeard) {
    const TemporaryFolder folder;
    options_.cacheDirectory = folder.path();
    const auto program = parse("/nowhere/kernel.cu", plain);
    std::stop_source stop;
    stop.request_stop();
    const auto facts = staticFacts({program, program.model->kernels.at(0)}, {}, "sm_90", options_,
                                   stop.get_token());
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().kind, ErrorKind::Cancelled);
}

TEST_P(StaticFactsOf, WithoutAToolkitAreMissingWithTheRemedy) {
    options_.toolkit.reset();
    const auto facts = factsOf(plain);
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().kind, ErrorKind::Missing);
    EXPECT_THAT(facts.error().remedy, HasSubstr("install the CUDA toolkit"));
}

TEST(FactsOccupancy, CountsStaticAndDynamicSharedMemory) {
    StaticFacts facts;
    facts.architecture = "sm_90";
    facts.registers = 32;
    facts.staticSharedBytes = 16 * 1024;
    LaunchSpec launch;
    launch.block = {128, 1, 1};
    launch.dynamicSharedBytes = 40 * 1024;
    const auto occupancy = occupancyOf(facts, launch);
    ASSERT_TRUE(occupancy) << occupancy.error().describe();
    EXPECT_EQ(occupancy->blocks, 4U); // (16 + 40 + 1) KB four times
    EXPECT_TRUE(occupancy->isLimitedBy(analysis::OccupancyLimiter::SharedMemory));
    facts.architecture = "sm_35";
    EXPECT_EQ(occupancyOf(facts, launch).error().kind, ErrorKind::Unsupported);
}

} // namespace
} // namespace kernelskill::engine
