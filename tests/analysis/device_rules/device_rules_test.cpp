/// Tests findings that nvcc, ptxas or the driver would report for files that libclang accepts.
#include "analysis/device_rules/device_rules.h"
#include "analysis/parse/translation_unit.h"
#include "tests/analysis/support/analyze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace kernelskill::analysis {
namespace {

std::vector<Diagnostic> findingsIn(const std::string& text,
                                   const std::vector<std::string>& flags = {}) {
    CompileCommand command = translateArguments(flags, "/nowhere");
    command.origin = flags.empty() ? CommandOrigin::Inferred : CommandOrigin::FlagsFile;
    const Result<FileModel> model =
        analyzeFile("/nowhere/test.cu", text, command, testing::preludeToolchain());
    EXPECT_TRUE(model) << model.error().describe();
    std::vector<Diagnostic> findings;
    if (model)
        std::ranges::copy_if(
            model->diagnostics, std::back_inserter(findings),
            [](const Diagnostic& one) { return one.origin == DiagnosticOrigin::Device; });
    return findings;
}

struct DeviceCase {
    const char* name;
    const char* text;
    const char* flag;  ///< nullptr: the command was inferred.
    const char* code;  ///< nullptr: nothing is found.
    const char* place; ///< The text that is underlined.
    Severity severity = Severity::Error;
};

std::ostream& operator<<(std::ostream& out, const DeviceCase& one) {
    return out << one.name;
}

constexpr const char* shuffle = "__global__ void k(float* y) {\n"
                                "    float v = y[threadIdx.x];\n"
                                "    v += __shfl_down(v, 16);\n"
                                "    y[threadIdx.x] = v;\n}\n";
constexpr const char* doubles = "__global__ void k(double* sum, double v) { atomicAdd(sum, v); }\n";
constexpr const char* square =
    "constexpr int square(int x) { return x * x; }\n"
    "__global__ void k(int* y) { y[threadIdx.x] = square(y[threadIdx.x]); }\n";
constexpr const char* largest =
    "#include <algorithm>\n"
    "__global__ void k(int* y) { y[threadIdx.x] = std::max(y[threadIdx.x], 3); }\n";
constexpr const char* unmarked =
    "template <class F> __global__ void apply(int n, F f) { if (threadIdx.x < n) f(threadIdx.x); "
    "}\n"
    "void run(float* y, int n) { apply<<<1, 64>>>(n, [=](int i) { y[i] = i; }); }\n";
constexpr const char* markedLambda =
    "template <class F> __global__ void apply(int n, F f) { if (threadIdx.x < n) f(threadIdx.x); "
    "}\n"
    "void run(float* y, int n) { apply<<<1, 64>>>(n, [=] __device__(int i) { y[i] = i; }); }\n";

const std::vector<DeviceCase> deviceCases{
    {"ShuffleWithoutMask", shuffle, "-arch=sm_75", "removed-warp-function", "__shfl_down"},
    {"ShuffleWithoutMaskForNoGpuInParticular", shuffle, nullptr, "removed-warp-function",
     "__shfl_down"},
    {"ShuffleWithoutMaskOnPascal", shuffle, "-arch=sm_60", "removed-warp-function", "__shfl_down",
     Severity::Warning},
    {"VoteWithoutMask", "__global__ void k(int* y) { y[0] = __any(y[threadIdx.x] > 0); }\n",
     "-arch=sm_90", "removed-warp-function", "__any"},
    {"ShuffleOfTheFile",
     "__device__ float __shfl_down(float v, int by) { return __shfl_down_sync(~0u, v, by); }\n"
     "__global__ void k(float* y) { y[0] = __shfl_down(y[0], 16); }\n",
     "-arch=sm_75", nullptr, nullptr},

    {"SharedArrayOf80000Bytes",
     "__global__ void k(float* y) {\n"
     "    __shared__ float a[20000];\n"
     "    a[threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n"
     "    y[threadIdx.x] = a[threadIdx.x ^ 1];\n}\n",
     nullptr, "static-shared-size", "a[20000]"},
    {"SharedArraysOf48Kilobytes",
     "__global__ void k(float* y) {\n"
     "    __shared__ float a[12288];\n"
     "    a[threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n"
     "    y[threadIdx.x] = a[threadIdx.x ^ 1];\n}\n",
     nullptr, nullptr, nullptr},
    {"SharedArrayThatNothingReads",
     "__global__ void k(float* y) {\n"
     "    __shared__ float a[20000];\n    a[threadIdx.x] = y[threadIdx.x];\n}\n",
     nullptr, nullptr, nullptr},
    {"ParametersOf36000Bytes",
     "struct Table { float values[9000]; };\n"
     "__global__ void k(Table t, float* y) { y[threadIdx.x] = t.values[threadIdx.x]; }\n",
     nullptr, "parameter-space", "k"},

    {"BlockOf2048Threads",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { k<<<1, 2048>>>(y); }\n",
     nullptr, "launch-block-size", "2048", Severity::Warning},
    {"BlockOf64By32Threads",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { dim3 block(64, 32); k<<<1, block>>>(y); }\n",
     nullptr, "launch-block-size", "block", Severity::Warning},
    {"BlockOf128ThreadsAlongZ",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { k<<<1, dim3(1, 1, 128)>>>(y); }\n",
     nullptr, "launch-block-size", "dim3(1, 1, 128)", Severity::Warning},
    {"BlockOf1024Threads",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { dim3 block(32, 32); k<<<1, block>>>(y); }\n",
     nullptr, nullptr, nullptr},
    {"BlockOfAVariableThatChanges",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y, bool few) { int t = 2048; if (few) t = 256; k<<<1, t>>>(y); }\n",
     nullptr, nullptr, nullptr},
    {"GridOf70000BlocksAlongY",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { k<<<dim3(1, 70000), 32>>>(y); }\n",
     nullptr, "launch-grid-size", "dim3(1, 70000)", Severity::Warning},
    {"LaunchBoundsOf2048",
     "__global__ void __launch_bounds__(2048) k(float* y) { y[threadIdx.x] = 1; }\n", nullptr,
     "launch-bounds-size", "k", Severity::Warning},
    {"BlockBeyondItsLaunchBounds",
     "__global__ void __launch_bounds__(128) k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { k<<<1, 256>>>(y); }\n",
     nullptr, "launch-exceeds-bounds", "256", Severity::Warning},

    {"AtomicOfDoublesOnMaxwell", doubles, "-arch=sm_52", "unsupported-atomic", "atomicAdd"},
    {"AtomicOfDoublesOnHopper", doubles, "-arch=sm_90", nullptr, nullptr},
    {"AtomicOfDoublesForNoGpuInParticular", doubles, nullptr, nullptr, nullptr},
    {"AtomicOfHalvesOnPascal",
     "#include <cuda_fp16.h>\n"
     "__global__ void k(__half* y) { atomicAdd(y, __float2half(1.0f)); }\n",
     "-arch=sm_60", "unsupported-atomic", "atomicAdd"},
    {"AtomicOfBfloatsOnTuring",
     "#include <cuda_bf16.h>\n"
     "__global__ void k(__nv_bfloat16* y, __nv_bfloat162* z) {\n"
     "    atomicAdd(y, __float2bfloat16(1.0f));\n    atomicAdd(z, __nv_bfloat162());\n}\n",
     "-arch=sm_75", nullptr, nullptr},
    {"AtomicOfVectorsOnAmpere",
     "__global__ void k(float2* y) { atomicAdd(y, make_float2(1, 1)); }\n", "-arch=sm_80",
     "unsupported-atomic", "atomicAdd"},

    {"IndexInMain", "int main() { int i = threadIdx.x; return i; }\n", nullptr,
     "index-in-host-code", "threadIdx"},
    {"IndexThatIsAVariableOfTheHost",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { dim3 blockDim(64); k<<<1, blockDim>>>(y); if (blockDim.x) return; }\n",
     nullptr, nullptr, nullptr},
    {"IndexInALambdaForTheDevice",
     "template <class F> __global__ void apply(F f) { f(); }\n"
     "void run(float* y) { apply<<<1, 64>>>([=] __device__() { y[threadIdx.x] = 1; }); }\n",
     nullptr, nullptr, nullptr},

    {"ConstexprOfTheHost", square, "-O3", "relaxed-constexpr-flag", "square"},
    {"ConstexprOfTheHostWithTheFlag", square, "--expt-relaxed-constexpr", nullptr, nullptr},
    {"ConstexprOfTheHostWithUnknownFlags", square, nullptr, nullptr, nullptr},
    {"MaximumOfTheLibrary", largest, "-O3", "relaxed-constexpr-flag", "std::max"},
    {"ConstexprForBoth",
     "__host__ __device__ constexpr int square(int x) { return x * x; }\n"
     "__global__ void k(int* y) { y[threadIdx.x] = square(y[threadIdx.x]); }\n",
     "-O3", nullptr, nullptr},

    {"LambdaOfTheHostInAKernel", unmarked, "--extended-lambda", "lambda-without-device", "]"},
    {"LambdaForTheDeviceWithoutTheFlag", markedLambda, "-O3", "extended-lambda-flag", "__device__"},
    {"LambdaForTheDeviceWithTheFlag", markedLambda, "--extended-lambda", nullptr, nullptr},
    {"LambdaForTheDeviceWithUnknownFlags", markedLambda, nullptr, nullptr, nullptr},

    {"Dim3OfAComma",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { dim3 block = (16, 16); k<<<1, block>>>(y); }\n",
     nullptr, "dim3-comma", "(16, 16)", Severity::Warning},
    {"LaunchOfAComma",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) { k<<<1, (16, 16)>>>(y); }\n",
     nullptr, "dim3-comma", "(16, 16)", Severity::Warning},
    {"LaunchOfAProduct",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "int most(int a, int b);\n"
     "void run(float* y, int n) { k<<<(most(n, 1) + 31) / 32, (32)>>>(y); }\n",
     nullptr, nullptr, nullptr},
    {"ExternArrayWithASize",
     "__global__ void k(float* y) {\n"
     "    extern __shared__ float a[256];\n"
     "    a[threadIdx.x] = y[0];\n    y[threadIdx.x] = a[0];\n}\n",
     nullptr, "sized-extern-shared", "extern", Severity::Warning},
};

class DeviceRules : public ::testing::TestWithParam<DeviceCase> {};

TEST_P(DeviceRules, FindWhatIsRefusedAndNothingElse) {
    const DeviceCase& tested = GetParam();
    const std::vector<std::string> flags =
        tested.flag != nullptr ? std::vector<std::string>{tested.flag} : std::vector<std::string>{};
    const std::string text = tested.text;
    const auto findings = findingsIn(text, flags);
    if (tested.code == nullptr) {
        EXPECT_TRUE(findings.empty()) << findings.front().message;
        return;
    }
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].code, tested.code);
    EXPECT_EQ(findings[0].severity, tested.severity);
    EXPECT_EQ(text.substr(findings[0].span.begin, findings[0].span.size()), tested.place);
    EXPECT_FALSE(findings[0].message.empty());
}

INSTANTIATE_TEST_SUITE_P(, DeviceRules, ::testing::ValuesIn(deviceCases),
                         [](const ::testing::TestParamInfo<DeviceCase>& tested) {
                             return tested.param.name;
                         });

TEST(DeviceRule, SpeaksInPlaceOfTheParserOnTheSameName) {
    const FileModel model = testing::analyze(shuffle);
    ASSERT_EQ(model.diagnostics.size(), 1U);
    EXPECT_EQ(model.diagnostics[0].code, "removed-warp-function");
}

TEST(DeviceRule, KeepsQuietAboutAFileThatDoesNotParse) {
    EXPECT_TRUE(findingsIn("int main() { int i = threadIdx.x; return j; }\n").empty());
}

} // namespace
} // namespace kernelskill::analysis
