/// Files that compile, broken in one place: each must be repaired to a file without errors.
#include "engine/repair/compile_diagnoser.h"
#include "tests/engine/breakage.h"
#include "tests/samples.h"

#include <gtest/gtest.h>

#include <ostream>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::RepairBench;
using kernelskill::testing::replaced;
using kernelskill::testing::sourceFile;

struct Breakage {
    const char* name;
    const char* file;
    const char* from;
    const char* to;
    /// A part of the repaired text; nullptr: it must equal the original text.
    const char* expected = nullptr;
};

constexpr const char* saxpy = "examples/saxpy.cu";
constexpr const char* reduce = "examples/reduce.cu";
constexpr const char* transpose = "examples/transpose.cu";
constexpr const char* softmax = "tests/corpus/softmax_rows.cu";
constexpr const char* grid = "tests/corpus/cooperative_grid.cu";
constexpr const char* histogram = "examples/naive/histogram.cu";
constexpr const char* tiled = "tests/corpus/matmul_tiled.cu";
constexpr const char* bf16 = "tests/corpus/bf16_norm.cu";

/// Names the test by the cause that the diagnosis must name.
const std::pair<const char*, std::vector<Breakage>> breakagesByCause[] = {
    {"missing-semicolon",
     {
         {"SemicolonOfADeclaration", saxpy, "threadIdx.x;", "threadIdx.x"},
         {"SemicolonOfAnAssignment", saxpy, "+ y[i];", "+ y[i]"},
         {"SemicolonOfACall", reduce, "__syncthreads();", "__syncthreads()"},
         {"SemicolonOfALaunch", saxpy, "2.0f, x, y);", "2.0f, x, y)"},
         {"SemicolonOfASharedArray", reduce, "partial[256];", "partial[256]"},
         {"SemicolonOfADim3", transpose, "block(TILE, TILE);", "block(TILE, TILE)"},
     }},
    {"missing-brace",
     {
         {"ClosingBraceOfAKernel", saxpy, "y[i];\n}", "y[i];\n", "y[i];\n}"},
         {"ClosingBraceOfMain", saxpy, "\"done\");\n}", "\"done\");\n", "\"done\");\n}"},
         {"ClosingBraceOfALoop", reduce, "        __syncthreads();\n    }",
          "        __syncthreads();\n", "        __syncthreads();\n    }\n"},
         {"OpeningBraceOfAKernel", saxpy, "float* y) {", "float* y)"},
         {"OpeningBraceOfALoop", reduce, "s >>= 1) {", "s >>= 1)"},
         {"OpeningBraceOfMain", reduce, "int main() {", "int main()"},
     }},
    {"extra-brace",
     {
         {"BraceTooMany", saxpy, "y[i];\n}", "y[i];\n}\n}", "y[i];\n}\n\n"},
     }},
    {"missing-parenthesis",
     {
         {"ParenthesisOfACondition", saxpy, "if (i < n)", "if (i < n"},
         {"ParenthesisOfAConditionOpening", saxpy, "if (i < n)", "if i < n)"},
         {"ParenthesisOfADim3", transpose, "/ TILE);", "/ TILE;"},
         {"ParenthesisOfACall", reduce, "cudaFree(in);", "cudaFree(in;"},
         {"ParenthesisOfALaunch", reduce, "(in, out, n);", "(in, out, n;"},
         {"ParenthesisOfAnArgument", saxpy, "sizeof(float));", "sizeof(float);"},
     }},
    {"missing-bracket",
     {
         {"BracketOfAnIndex", saxpy, "y[i] =", "y[i ="},
         {"BracketOfASharedArray", reduce, "partial[256]", "partial[256"},
     }},
    {"misspelled-identifier",
     {
         {"IntrinsicSyncthreads", reduce, "__syncthreads", "__synchthreads"},
         {"IntrinsicSyncthreadsByCase", reduce, "__syncthreads", "__syncThreads"},
         {"IntrinsicUnderscore", reduce, "__syncthreads", "_syncthreads"},
         {"BuiltinThreadIdx", saxpy, "threadIdx.x", "threadidx.x"},
         {"BuiltinBlockDim", saxpy, "blockDim.x", "blockdim.x"},
         {"BuiltinMember", saxpy, "threadIdx.x", "threadIdx.X"},
         {"ApiMalloc", saxpy, "cudaMalloc(&x", "cudaMaloc(&x"},
         {"ApiSynchronize", saxpy, "cudaDeviceSynchronize", "cudaDeviceSyncronize"},
         {"ApiFree", saxpy, "cudaFree(x)", "cudafree(x)"},
         {"TypeFloat", saxpy, "float* y)", "flaot* y)"},
         {"TypeUnsigned", reduce, "unsigned tid", "unsinged tid"},
         {"TypeDim3", transpose, "dim3 block", "dim block"},
         {"VariableOfTheFile", reduce, "partial[tid] = i", "partal[tid] = i"},
         {"ParameterOfTheKernel", transpose, "x < width &&", "x < widht &&"},
         {"MacroOfTheFile", transpose, "blockIdx.x * TILE", "blockIdx.x * TILL"},
         {"KernelOfTheFile", reduce, "    blockSum<<<", "    blockSun<<<"},
         {"AttributeGlobal", saxpy, "__global__", "__globl__"},
         {"AttributeGlobalUnderscores", saxpy, "__global__", "_global_"},
         {"AttributeShared", reduce, "__shared__", "__share__"},
         {"KeywordVoid", saxpy, "__global__ void", "__global__ viod"},
     }},
    {"misspelled-include",
     {
         {"HeaderOfTheLibrary", saxpy, "<cstdio>", "<cstdoi>"},
     }},
    {"missing-include",
     {
         {"IncludeOfPuts", saxpy, "#include <cstdio>\n", "", "#include <cstdio>"},
         {"IncludeOfVector", saxpy, "float *x, *y;", "float *x, *y; std::vector<float> h(n);",
          "#include <vector>"},
         {"IncludeOfFloatMax", saxpy, "a * x[i]", "FLT_MAX * x[i]", "#include <cfloat>"},
         {"IncludeOfHalf", saxpy, "    int i", "    __half h = __float2half(1.0f);\n    int i",
          "#include <cuda_fp16.h>"},
         {"IncludeOfBfloat16", saxpy, "    int i",
          "    __nv_bfloat16 h = __float2bfloat16(1.0f);\n    int i", "#include <cuda_bf16.h>"},
         {"IncludeOfCurand", saxpy, "    int i",
          "    curandState state;\n    curand_init(1, 2, 3, &state);\n    int i",
          "#include <curand_kernel.h>"},
         {"IncludeOfCooperativeGroups", saxpy, "    int i",
          "    cooperative_groups::this_thread_block().sync();\n    int i",
          "#include <cooperative_groups.h>"},
         {"IncludeOfCooperativeGroupsAlias", saxpy, "    int i",
          "    namespace cg = cooperative_groups;\n    cg::this_thread_block().sync();\n    int i",
          "#include <cooperative_groups.h>"},
         {"IncludeOfRandom", saxpy, "    const int n", "    std::mt19937 engine;\n    const int n",
          "#include <random>"},
     }},
    {"missing-global",
     {
         {"GlobalIsMissing", saxpy, "__global__ ", ""},
         {"GlobalIsMissingOnTranspose", transpose, "__global__ ", ""},
     }},
    {"missing-device",
     {
         {"DeviceOfAFunction", "tests/corpus/bfs.cu", "__device__ int atomicAggInc",
          "int atomicAggInc"},
         {"DeviceOfAFunctionThatCallsIntrinsics", "tests/corpus/double_precision.cu",
          "__device__ double atomicMaxDouble", "double atomicMaxDouble"},
         {"DeviceOfAConstructor", "tests/corpus/gelu.cu", "__device__ explicit", "explicit"},
         {"DeviceOfACallOperator", "tests/corpus/template_dims.cu", "__device__ T operator",
          "T operator", "__device__ __host__ T operator"},
         {"DeviceOfAConversion", "tests/corpus/reduction_ladder.cu",
          "__device__ inline operator T*", "inline operator T*"},
     }},
    {"kernel-return-type",
     {
         {"KernelReturnsInt", saxpy, "__global__ void", "__global__ int"},
         {"KernelReturnsFloat", reduce, "__global__ void", "__global__ float"},
         {"KernelWithoutReturnType", saxpy, "__global__ void saxpy", "__global__ saxpy"},
     }},
    {"launch-syntax",
     {
         {"LaunchWithTwoAngles", saxpy, "<<<(n + 255) / 256, 256>>>", "<<(n + 255) / 256, 256>>"},
         {"LaunchOpenedWithTwo", saxpy, "<<<(n", "<<(n"},
         {"LaunchClosedWithTwo", saxpy, "256>>>", "256>>"},
         {"LaunchNotClosed", saxpy, "256>>>", "256"},
         {"LaunchNotClosedOfNames", reduce, "threads>>>", "threads"},
         {"LaunchWithoutComma", saxpy, "256, 256>>>", "256 256>>>"},
         {"LaunchWithoutCommaOfNames", reduce, "blocks, threads>>>", "blocks threads>>>"},
         {"LaunchWithoutBlock", saxpy, "<<<(n + 255) / 256, 256>>>", "<<<(n + 255) / 256>>>"},
     }},
    {"launch-syntax",
     {
         {"LaunchOfFive", saxpy, "256, 256>>>", "256, 256, 0, 0, 0>>>", "256, 256, 0, 0>>>"},
     }},
    {"missing-argument",
     {
         {"LaunchArgument", saxpy, "(n, 2.0f, x, y)", "(n, 2.0f, x)"},
         {"DirectionOfACopy", histogram, "n, cudaMemcpyHostToDevice", "n"},
     }},
    {"surplus-argument",
     {
         {"LaunchArgumentTwice", reduce, "(in, out, n);", "(in, out, n, n);"},
     }},
    {"argument-order",
     {
         {"LaunchArgumentsSwapped", reduce, "(in, out, n);", "(in, n, out);"},
     }},
    {"argument-kind",
     {
         {"LaunchOfAnAddress", saxpy, "(n, 2.0f, x, y)", "(n, 2.0f, x, &y)"},
         {"LaunchOfAnElement", saxpy, "(n, 2.0f, x, y)", "(n, 2.0f, x, *y)"},
         {"AllocationWithoutAddress", saxpy, "cudaMalloc(&x", "cudaMalloc(x"},
         {"AtomicWithoutAddress", histogram, "atomicAdd(&", "atomicAdd("},
     }},
    {"template-arguments",
     {
         {"TemplateArgumentMissing", tiled, "matmulTiled<32><<<", "matmulTiled<<<"},
         {"TemplateArgumentOfAnotherKind", tiled, "matmulTiled<32><<<", "matmulTiled<float><<<"},
     }},
    {"missing-declaration",
     {
         {"TypeOfALoopVariable", reduce, "for (unsigned s", "for (s", "for (int s"},
         {"TypeOfAVariable", saxpy, "    int i =", "    i ="},
         {"IndexOfTheThread", saxpy, "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n", "",
          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if"},
     }},
    {"missing-alias",
     {
         {"NamespaceOfCooperativeGroups", grid, "namespace cg = cooperative_groups;\n", "",
          "namespace cg = cooperative_groups;"},
     }},
    {"missing-axis",
     {
         {"AxisOfThreadIdx", saxpy, "+ threadIdx.x;", "+ threadIdx;"},
     }},
    {"misplaced-pragma",
     {
         {"UnrollBeforeADeclaration", reduce, "    unsigned tid",
          "#pragma unroll\n    unsigned tid", "#pragma unroll\n    for"},
     }},
    {"half-conversion",
     {
         {"Bfloat16AmongFloats", bf16, "__bfloat162float(x[i]) * scale", "x[i] * scale"},
     }},
    {"dynamic-shared-memory",
     {
         {"ExternMissing", softmax, "extern __shared__", "__shared__"},
         {"DynamicArrayNotDeclared", softmax, "    extern __shared__ float shared[];\n", "",
          "extern __shared__ float shared[];"},
     }},
    {"shared-extent",
     {
         {"SharedArrayOfBlockDim", reduce, "partial[256]", "partial[blockDim.x]"},
     }},
    {"not-a-pointer",
     {
         {"PointerParameter", saxpy, "float* y)", "float y)"},
     }},
    {"written-const",
     {
         {"WrittenParameter", reduce, "float* out,", "const float* out,"},
     }},
    {"not-constant",
     {
         {"ExtentOfAnArray", "examples/hazards/race.cu", "constexpr int", "int"},
     }},
    {"floating-index",
     {
         {"FloatAsIndex", saxpy, "    int i =", "    float i ="},
     }},
    {"extent-type",
     {
         {"Dim3AsInt", transpose, "dim3 block(", "int block("},
     }},
    {"kernel-return-value",
     {
         {"KernelReturnsZero", saxpy, "y[i];\n}", "y[i];\n    return 0;\n}"},
     }},
    {"missing-return-type",
     {
         {"DeviceFunctionWithoutType", "tests/corpus/adamw.cu", "inline float lerp", "inline lerp",
          "inline auto lerp"},
     }},
    {"missing-comma",
     {
         {"CommaBetweenArguments", saxpy, "(n, 2.0f, x, y)", "(n, 2.0f x, y)"},
     }},
    {"missing-quote",
     {
         {"QuoteAtTheEnd", saxpy, "\"done\"", "\"done"},
     }},
    {"missing-semicolon",
     {
         {"CommaInAForHeader", reduce, "s > 0;", "s > 0,"},
     }},
    {"missing-launch-configuration",
     {
         {"LaunchOfATemplateWithoutConfiguration", "tests/corpus/adamw.cu", "<<<grid, block>>>",
          ""},
         {"LaunchWithoutConfiguration", saxpy, "<<<(n + 255) / 256, 256>>>", ""},
     }},
};

struct CausedBreakage {
    const char* cause;
    const Breakage* breakage;
};

std::ostream& operator<<(std::ostream& out, const CausedBreakage& tested) {
    return out << tested.breakage->name;
}

std::vector<CausedBreakage> allBreakages() {
    std::vector<CausedBreakage> all;
    for (const auto& [cause, breakages] : breakagesByCause)
        for (const Breakage& breakage : breakages)
            all.push_back({cause, &breakage});
    return all;
}

class Breakages : public ::testing::TestWithParam<CausedBreakage> {};

TEST_P(Breakages, AreRepaired) {
    const auto [cause, tested] = GetParam();
    const Breakage& breakage = *tested;
    RepairBench bench;
    std::string original = sourceFile(breakage.file);
    std::string broken = replaced(original, breakage.from, breakage.to);

    Repair repair = bench.repaired(broken);
    ASSERT_GT(repair.errorsBefore, 0u) << "the breakage does not break";
    ASSERT_EQ(repair.errorsAfter, 0u) << repair.text;
    EXPECT_TRUE(compileErrors(bench.parsed(repair.text)).empty());
    EXPECT_EQ(repair.applied.front().failure.cause, cause) << repair.applied.front().title;
    EXPECT_FALSE(repair.applied.front().failure.explanation.empty());

    ASSERT_EQ(repair.edits.size(), 1u);
    auto edited = analysis::applyEdits(broken, repair.edits.begin()->second);
    ASSERT_TRUE(edited) << edited.error().describe();
    EXPECT_EQ(*edited, repair.text)
        << "the edits against the broken text must give the repaired one";

    if (breakage.expected != nullptr)
        EXPECT_NE(repair.text.find(breakage.expected), std::string::npos) << repair.text;
    else
        EXPECT_EQ(repair.text, original);
}

INSTANTIATE_TEST_SUITE_P(, Breakages, ::testing::ValuesIn(sampleOf(allBreakages(), 3)),
                         [](const ::testing::TestParamInfo<CausedBreakage>& tested) {
                             return tested.param.breakage->name;
                         });

} // namespace
} // namespace kernelskill::engine
