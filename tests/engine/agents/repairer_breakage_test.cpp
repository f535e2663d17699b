/// Files that compile, broken in one place: each must be repaired to a file without errors.
#include "engine/agents/compile_diagnoser.h"
#include "tests/engine/agents/breakage.h"

#include <gtest/gtest.h>

#include <ostream>

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
    const char* cause;
    int occurrence = 0;
    /// What the repaired text must hold; nullptr: the original text, character by character.
    const char* expected = nullptr;
};

std::ostream& operator<<(std::ostream& out, const Breakage& breakage) {
    return out << breakage.name;
}

constexpr const char* saxpy = "examples/saxpy.cu";
constexpr const char* reduce = "examples/reduce.cu";
constexpr const char* transpose = "examples/transpose.cu";

const Breakage breakages[] = {
    {"SemicolonOfADeclaration", saxpy, "threadIdx.x;", "threadIdx.x", "missing-semicolon"},
    {"SemicolonOfAnAssignment", saxpy, "+ y[i];", "+ y[i]", "missing-semicolon"},
    {"SemicolonOfACall", reduce, "__syncthreads();", "__syncthreads()", "missing-semicolon"},
    {"SemicolonOfALaunch", saxpy, "2.0f, x, y);", "2.0f, x, y)", "missing-semicolon"},
    {"SemicolonOfASharedArray", reduce, "partial[256];", "partial[256]", "missing-semicolon"},
    {"SemicolonOfADim3", transpose, "block(TILE, TILE);", "block(TILE, TILE)", "missing-semicolon"},
    {"ClosingBraceOfAKernel", saxpy, "y[i];\n}", "y[i];\n", "missing-brace", 0, "y[i];\n}"},
    {"ClosingBraceOfMain", saxpy, "\"done\");\n}", "\"done\");\n", "missing-brace", 0,
     "\"done\");\n}"},
    {"ClosingBraceOfALoop", reduce, "        __syncthreads();\n    }", "        __syncthreads();\n",
     "missing-brace", 0, "        __syncthreads();\n    }\n"},
    {"OpeningBraceOfAKernel", saxpy, "float* y) {", "float* y)", "missing-brace"},
    {"OpeningBraceOfALoop", reduce, "s >>= 1) {", "s >>= 1)", "missing-brace"},
    {"OpeningBraceOfMain", reduce, "int main() {", "int main()", "missing-brace"},
    {"BraceTooMany", saxpy, "y[i];\n}", "y[i];\n}\n}", "extra-brace", 0, "y[i];\n}\n\n"},
    {"ParenthesisOfACondition", saxpy, "if (i < n)", "if (i < n", "missing-parenthesis"},
    {"ParenthesisOfAConditionOpening", saxpy, "if (i < n)", "if i < n)", "missing-parenthesis"},
    {"ParenthesisOfADim3", transpose, "/ TILE);", "/ TILE;", "missing-parenthesis"},
    {"ParenthesisOfACall", reduce, "cudaFree(in);", "cudaFree(in;", "missing-parenthesis"},
    {"ParenthesisOfALaunch", reduce, "(in, out, n);", "(in, out, n;", "missing-parenthesis"},
    {"ParenthesisOfAnArgument", saxpy, "sizeof(float));", "sizeof(float);", "missing-parenthesis"},
    {"BracketOfAnIndex", saxpy, "y[i] =", "y[i =", "missing-bracket"},
    {"BracketOfASharedArray", reduce, "partial[256]", "partial[256", "missing-bracket"},
    {"IntrinsicSyncthreads", reduce, "__syncthreads", "__synchthreads", "misspelled-identifier"},
    {"IntrinsicSyncthreadsByCase", reduce, "__syncthreads", "__syncThreads",
     "misspelled-identifier"},
    {"IntrinsicUnderscore", reduce, "__syncthreads", "_syncthreads", "misspelled-identifier"},
    {"BuiltinThreadIdx", saxpy, "threadIdx.x", "threadidx.x", "misspelled-identifier"},
    {"BuiltinBlockDim", saxpy, "blockDim.x", "blockdim.x", "misspelled-identifier"},
    {"BuiltinMember", saxpy, "threadIdx.x", "threadIdx.X", "misspelled-identifier"},
    {"ApiMalloc", saxpy, "cudaMalloc(&x", "cudaMaloc(&x", "misspelled-identifier"},
    {"ApiSynchronize", saxpy, "cudaDeviceSynchronize", "cudaDeviceSyncronize",
     "misspelled-identifier"},
    {"ApiFree", saxpy, "cudaFree(x)", "cudafree(x)", "misspelled-identifier"},
    {"TypeFloat", saxpy, "float* y)", "flaot* y)", "misspelled-identifier"},
    {"TypeUnsigned", reduce, "unsigned tid", "unsinged tid", "misspelled-identifier"},
    {"TypeDim3", transpose, "dim3 block", "dim block", "misspelled-identifier"},
    {"VariableOfTheFile", reduce, "partial[tid] = i", "partal[tid] = i", "misspelled-identifier"},
    {"ParameterOfTheKernel", transpose, "x < width &&", "x < widht &&", "misspelled-identifier"},
    {"MacroOfTheFile", transpose, "blockIdx.x * TILE", "blockIdx.x * TILL",
     "misspelled-identifier"},
    {"KernelOfTheFile", reduce, "    blockSum<<<", "    blockSun<<<", "misspelled-identifier"},
    {"AttributeGlobal", saxpy, "__global__", "__globl__", "misspelled-identifier"},
    {"AttributeGlobalUnderscores", saxpy, "__global__", "_global_", "misspelled-identifier"},
    {"AttributeShared", reduce, "__shared__", "__share__", "misspelled-identifier"},
    {"KeywordVoid", saxpy, "__global__ void", "__global__ viod", "misspelled-identifier"},
    {"HeaderOfTheLibrary", saxpy, "<cstdio>", "<cstdoi>", "misspelled-include"},
    {"IncludeOfPuts", saxpy, "#include <cstdio>\n", "", "missing-include", 0, "#include <cstdio>"},
    {"IncludeOfVector", saxpy, "float *x, *y;", "float *x, *y; std::vector<float> h(n);",
     "missing-include", 0, "#include <vector>"},
    {"IncludeOfFloatMax", saxpy, "a * x[i]", "FLT_MAX * x[i]", "missing-include", 0,
     "#include <cfloat>"},
    {"IncludeOfHalf", saxpy, "    int i", "    __half h = __float2half(1.0f);\n    int i",
     "missing-include", 0, "#include <cuda_fp16.h>"},
    {"IncludeOfCooperativeGroups", saxpy, "    int i",
     "    cooperative_groups::this_thread_block().sync();\n    int i", "missing-include", 0,
     "#include <cooperative_groups.h>"},
    {"IncludeOfCooperativeGroupsAlias", saxpy, "    int i",
     "    namespace cg = cooperative_groups;\n    cg::this_thread_block().sync();\n    int i",
     "missing-include", 0, "#include <cooperative_groups.h>"},
    {"IncludeOfRandom", saxpy, "    const int n", "    std::mt19937 engine;\n    const int n",
     "missing-include", 0, "#include <random>"},
    {"GlobalIsMissing", saxpy, "__global__ ", "", "missing-global"},
    {"GlobalIsMissingOnTranspose", transpose, "__global__ ", "", "missing-global"},
    {"DeviceIsMissing", saxpy, "__global__", "float twice(float v) { return 2 * v; }\n\n__global__",
     "missing-device", 0, nullptr},
    {"KernelReturnsInt", saxpy, "__global__ void", "__global__ int", "kernel-return-type"},
    {"KernelReturnsFloat", reduce, "__global__ void", "__global__ float", "kernel-return-type"},
    {"KernelWithoutReturnType", saxpy, "__global__ void saxpy", "__global__ saxpy",
     "kernel-return-type"},
    {"LaunchWithTwoAngles", saxpy, "<<<(n + 255) / 256, 256>>>", "<<(n + 255) / 256, 256>>",
     "launch-syntax"},
    {"LaunchOpenedWithTwo", saxpy, "<<<(n", "<<(n", "launch-syntax"},
    {"LaunchClosedWithTwo", saxpy, "256>>>", "256>>", "launch-syntax"},
    {"LaunchNotClosed", saxpy, "256>>>", "256", "launch-syntax"},
    {"LaunchNotClosedOfNames", reduce, "threads>>>", "threads", "launch-syntax"},
    {"LaunchWithoutComma", saxpy, "256, 256>>>", "256 256>>>", "launch-syntax"},
    {"LaunchWithoutCommaOfNames", reduce, "blocks, threads>>>", "blocks threads>>>",
     "launch-syntax"},
    {"LaunchWithoutBlock", saxpy, "<<<(n + 255) / 256, 256>>>", "<<<(n + 255) / 256>>>",
     "launch-syntax"},
    {"LaunchWithoutConfiguration", saxpy, "<<<(n + 255) / 256, 256>>>", "",
     "missing-launch-configuration"},
};

class Breakages : public ::testing::TestWithParam<Breakage> {};

TEST_P(Breakages, AreRepaired) {
    const Breakage& breakage = GetParam();
    RepairBench bench;
    std::string original = sourceFile(breakage.file);
    std::string broken = replaced(original, breakage.from, breakage.to, breakage.occurrence);
    if (std::string_view(breakage.name) == "DeviceIsMissing")
        broken = replaced(broken, "a * x[i]", "twice(a) * x[i]");

    Repair repair = bench.repaired(broken);
    ASSERT_GT(repair.errorsBefore, 0u) << "the breakage does not break";
    ASSERT_EQ(repair.errorsAfter, 0u) << repair.text;
    EXPECT_TRUE(compileErrors(bench.parsed(repair.text)).empty());
    EXPECT_EQ(repair.applied.front().failure.cause, breakage.cause) << repair.applied.front().title;
    EXPECT_FALSE(repair.applied.front().failure.explanation.empty());

    ASSERT_EQ(repair.edits.size(), 1u);
    auto edited = analysis::applyEdits(broken, repair.edits.begin()->second);
    ASSERT_TRUE(edited) << edited.error().describe();
    EXPECT_EQ(*edited, repair.text)
        << "the edits against the broken text must give the repaired one";

    if (breakage.expected != nullptr)
        EXPECT_NE(repair.text.find(breakage.expected), std::string::npos) << repair.text;
    else if (std::string_view(breakage.name) == "DeviceIsMissing")
        EXPECT_NE(repair.text.find("__device__ float twice"), std::string::npos) << repair.text;
    else
        EXPECT_EQ(repair.text, original);
}

INSTANTIATE_TEST_SUITE_P(, Breakages, ::testing::ValuesIn(breakages),
                         [](const ::testing::TestParamInfo<Breakage>& tested) {
                             return tested.param.name;
                         });

} // namespace
} // namespace kernelskill::engine
