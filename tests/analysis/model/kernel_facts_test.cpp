#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::analysis {
namespace {

using testing::accessOf;
using testing::analyze;
using testing::textOf;

const Loop& onlyLoop(const FileModel& model) {
    EXPECT_EQ(model.kernels.at(0).loops.size(), 1U);
    return model.kernels.at(0).loops.at(0);
}

FileModel loop(const std::string& header, const std::string& body = "x[i] = 0;") {
    return analyze("__global__ void k(float* x, int n) {\n" + header + " {" + body + "}\n}\n");
}

std::string indexOf(const FileModel& model, std::string_view access) {
    const KernelModel& kernel = model.kernels.at(0);
    const MemoryAccess& found = accessOf(model, kernel, access);
    return found.index ? found.index->describe(kernel.body) : "none";
}

TEST(Parameters, ThatAreSpelledAsArraysArePointers) {
    const FileModel model =
        analyze("template <typename T>\n"
                "__global__ void k(float y[], const float x[16], float rows[][8], T z[], int n) {\n"
                "    y[n] = x[n + 1] + rows[n][3] + z[n];\n"
                "}\n");
    const KernelModel& kernel = model.kernels.at(0);
    ASSERT_EQ(kernel.parameters.size(), 5U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(kernel.parameters[i].type.pointerDepth, 1U) << i;
        EXPECT_TRUE(kernel.parameters[i].type.arrayExtents.empty()) << i;
    }
    EXPECT_EQ(kernel.parameters[0].type.scalar, ScalarKind::Float);
    EXPECT_FALSE(kernel.parameters[0].type.pointeeConst);
    EXPECT_TRUE(kernel.parameters[1].type.pointeeConst);
    EXPECT_TRUE(kernel.parameters[0].isWritten);
    EXPECT_EQ(indexOf(model, "y[n]"), "n");
    EXPECT_EQ(indexOf(model, "x[n + 1]"), "n + 1");
    EXPECT_EQ(accessOf(model, kernel, "y[n]").space, MemorySpace::Global);
}

TEST(Loops, ConstantBoundsGiveTheTripCount) {
    EXPECT_EQ(onlyLoop(loop("for (int i = 0; i < 10; ++i)")).tripCount, 10);
    EXPECT_EQ(onlyLoop(loop("for (int i = 0; i <= 10; i += 3)")).tripCount, 4);
    EXPECT_EQ(onlyLoop(loop("for (int i = 7; i >= 0; i--)")).tripCount, 8);
    EXPECT_EQ(onlyLoop(loop("for (int i = 5; i < 5; i++)")).tripCount, 0);
    EXPECT_EQ(onlyLoop(loop("for (int i = 16; i > 0; i >>= 1)")).tripCount, 5);
    EXPECT_EQ(onlyLoop(loop("for (int i = 1; i < 100; i *= 2)")).tripCount, 7);
    EXPECT_EQ(onlyLoop(loop("for (int i = 0; 4 > i; i = i + 1)")).tripCount, 4);
}

TEST(Loops, UnknownBoundsGiveAnExpression) {
    const FileModel model = loop("for (int i = 2; i < n; i++)");
    const Loop& found = onlyLoop(model);
    EXPECT_EQ(found.tripCount, std::nullopt);
    ASSERT_TRUE(found.tripCountExpression);
    EXPECT_EQ(found.tripCountExpression->describe(model.kernels[0].body), "n - 2");
    EXPECT_EQ(textOf(model, model.kernels[0].body.expr(found.upperBound).span), "n");
}

TEST(Loops, EarlyExitsAndChangedVariablesLeaveTheCountOpen) {
    EXPECT_EQ(onlyLoop(loop("for (int i = 0; i < 8; ++i)", "if (x[i] > 0) break;")).tripCount,
              std::nullopt);
    EXPECT_EQ(onlyLoop(loop("for (int i = 0; i < 8; ++i)", "x[i] = 1; i += 2;")).tripCount,
              std::nullopt);
    EXPECT_TRUE(
        onlyLoop(loop("for (int i = 0; i < 8; ++i)", "if (x[i] > 0) return;")).hasEarlyExit);
    EXPECT_FALSE(onlyLoop(loop("for (int i = 0; i < 8; ++i)", "switch (n) { case 1: break; }"))
                     .hasEarlyExit);
}

TEST(Loops, NestKnowsItsParent) {
    const FileModel model =
        analyze("__global__ void k(float* x, int n) {\n"
                "for (int i = 0; i < n; ++i) for (int j = 0; j < 4; ++j) x[i * 4 + j] = 0; }");
    const KernelModel& kernel = model.kernels.at(0);
    ASSERT_EQ(kernel.loops.size(), 2U);
    EXPECT_EQ(kernel.loops[1].parent, 0U);
    EXPECT_EQ(kernel.loops[1].depth, 1U);
    EXPECT_EQ(indexOf(model, "x[i * 4 + j]"), "4*i + j");
    EXPECT_EQ(accessOf(model, kernel, "x[i * 4 + j]").loops, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Loops, PragmaUnrollIsAttached) {
    const FileModel model = loop("#pragma unroll 4\n    for (int i = 0; i < 8; ++i)");
    const Stmt& stmt = model.kernels[0].body.stmt(onlyLoop(model).statement);
    EXPECT_EQ(stmt.pragma, "unroll 4");
    EXPECT_EQ(textOf(model, stmt.pragmaSpan), "#pragma unroll 4");
}

TEST(Loops, MissingHeaderPartsAreTold) {
    const FileModel model = loop("int i = 0; for (; i < n;)", "x[i] = 0; i++;");
    const Stmt& stmt = model.kernels[0].body.stmt(onlyLoop(model).statement);
    EXPECT_EQ(stmt.init, noId);
    EXPECT_EQ(stmt.increment, noId);
    EXPECT_NE(stmt.condition, noId);
    EXPECT_NE(onlyLoop(model).inductionVariable, noId);
}

TEST(Indices, VariablesAreReplacedByTheirValues) {
    const FileModel model = analyze("#define W 8\nconstexpr int K = 2;\n"
                                    "__global__ void k(float* x, int n) {\n"
                                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "  float* p = x + n;\n"
                                    "  p[i * W + K] = x[(unsigned)i];\n}");
    EXPECT_EQ(indexOf(model, "p[i * W + K]"), "8*threadIdx.x + 8*blockIdx.x*blockDim.x + n + 2");
    EXPECT_EQ(indexOf(model, "x[(unsigned)i]"), "threadIdx.x + blockIdx.x*blockDim.x");
    const KernelModel& kernel = model.kernels[0];
    EXPECT_EQ(accessOf(model, kernel, "p[i * W + K]").base, kernel.parameters[0].variable);
}

TEST(Indices, FollowReassignmentInOrder) {
    const FileModel model = analyze("__global__ void k(float* x, float* y) {\n"
                                    "  int i = threadIdx.x;\n  x[i] = 0;\n"
                                    "  i = 2 * i;\n  y[i] = 0;\n}");
    EXPECT_EQ(indexOf(model, "x[i]"), "threadIdx.x");
    EXPECT_EQ(indexOf(model, "y[i]"), "2*threadIdx.x");
}

TEST(Indices, ArmsThatDisagreeMakeAValueOpaque) {
    const FileModel model = analyze("__global__ void k(float* x, int n) {\n"
                                    "  int i = threadIdx.x;\n  if (n > 3) i = 0;\n  x[i] = 0;\n}");
    const MemoryAccess& access = accessOf(model, model.kernels[0], "x[i]");
    ASSERT_TRUE(access.index);
    EXPECT_TRUE(access.index->hasOpaque());
}

TEST(Indices, ArraysOfArraysAreFlattenedRowMajor) {
    const FileModel model = analyze("__global__ void k(float* x) {\n"
                                    "  __shared__ float t[4][33];\n"
                                    "  t[threadIdx.y][threadIdx.x] = x[0];\n}");
    EXPECT_EQ(indexOf(model, "t[threadIdx.y][threadIdx.x]"), "threadIdx.x + 33*threadIdx.y");
    const MemoryAccess& access = accessOf(model, model.kernels[0], "t[threadIdx.y][threadIdx.x]");
    EXPECT_EQ(access.subscripts.size(), 2U);
    EXPECT_EQ(access.space, MemorySpace::Shared);
    EXPECT_EQ(access.kind, AccessKind::Write);
    EXPECT_EQ(model.kernels[0].sharedArrays.at(0).bytes, 4U * 33 * 4);
}

TEST(Indices, CastsRescaleToTheWidthOfTheAccess) {
    const FileModel model = analyze(
        "__global__ void k(const float* x, float4* y) {\n"
        "  y[threadIdx.x] = reinterpret_cast<const float4*>(x + 4 * blockIdx.x)[threadIdx.x];\n}");
    const MemoryAccess& access =
        accessOf(model, model.kernels[0],
                 "reinterpret_cast<const float4*>(x + 4 * blockIdx.x)[threadIdx.x]");
    EXPECT_EQ(access.width, 16U);
    ASSERT_TRUE(access.index);
    EXPECT_EQ(access.index->describe(model.kernels[0].body), "threadIdx.x + blockIdx.x");
}

TEST(Parameters, ReadsAndWritesAreSeenThroughDeviceFunctions) {
    const FileModel model =
        analyze("__device__ void put(float* to, const float* from) { *to = *from; }\n"
                "__device__ void hidden(float* p);\n"
                "__global__ void k(float* a, float* b, float* c, float* d, int n) {\n"
                "  put(a, b + 1);\n  hidden(c);\n}");
    const KernelModel& kernel = model.kernels.at(0);
    const auto parameter = [&](std::size_t i) { return kernel.parameters.at(i); };
    EXPECT_TRUE(parameter(0).isWritten);
    EXPECT_FALSE(parameter(0).isRead);
    EXPECT_TRUE(parameter(1).isRead);
    EXPECT_FALSE(parameter(1).isWritten);
    EXPECT_TRUE(parameter(2).escapes);
    EXPECT_TRUE(parameter(2).isWritten);
    EXPECT_FALSE(parameter(3).isRead || parameter(3).isWritten || parameter(3).escapes);
    EXPECT_FALSE(parameter(4).isRead);
    EXPECT_EQ(kernel.calls, (std::vector<std::string>{"put"})) << "a mere declaration has no model";
}

TEST(Barriers, UnderAThreadsConditionAreDivergent) {
    const FileModel model = analyze("__global__ void k(float* x, int n) {\n"
                                    "  if (n > 2) __syncthreads();\n"
                                    "  if (threadIdx.x < 16) __syncthreads();\n"
                                    "  if (x[0] > 0) __syncwarp();\n}");
    const std::vector<Barrier>& barriers = model.kernels.at(0).barriers;
    ASSERT_EQ(barriers.size(), 3U);
    EXPECT_FALSE(barriers[0].inDivergentBranch);
    EXPECT_TRUE(barriers[1].inDivergentBranch);
    EXPECT_TRUE(barriers[2].inDivergentBranch);
    EXPECT_EQ(barriers[2].kind, BarrierKind::SyncWarp);
}

TEST(Branches, BoundsGuardsAreToldFromOthers) {
    const FileModel model = analyze("__global__ void k(float* x, int n) {\n"
                                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "  if (i >= n) return;\n"
                                    "  if (threadIdx.x < 32) x[i] = 1;\n"
                                    "  if (x[i] > 0) x[i] = 2;\n}");
    const std::vector<Branch>& branches = model.kernels.at(0).branches;
    ASSERT_EQ(branches.size(), 3U);
    EXPECT_TRUE(branches[0].isBoundsGuard);
    EXPECT_FALSE(branches[1].isBoundsGuard);
    EXPECT_TRUE(branches[1].dependsOnThread);
    EXPECT_TRUE(branches[2].dependsOnData);
}

TEST(Operations, AtomicsShufflesAndMathAreListed) {
    const FileModel model =
        analyze("__global__ void k(int* bins, float* x) {\n"
                "  float v = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 1);\n"
                "  atomicAdd(&bins[threadIdx.x & 7], 1);\n"
                "  x[0] = expf(v) + fabsf(v);\n}");
    const KernelModel& kernel = model.kernels.at(0);
    ASSERT_EQ(kernel.atomics.size(), 1U);
    EXPECT_EQ(kernel.accesses.at(kernel.atomics[0].access).kind, AccessKind::Atomic);
    EXPECT_EQ(kernel.accesses.at(kernel.atomics[0].access).base, kernel.parameters[0].variable);
    ASSERT_EQ(kernel.warpOperations.size(), 1U);
    EXPECT_EQ(kernel.warpOperations[0].kind, WarpOperationKind::Shuffle);
    EXPECT_EQ(std::ranges::count(kernel.mathCalls, true, &MathCall::isSpecialFunction), 1);
}

TEST(NormalisedHash, SurvivesRenamesCommentsAndMoves) {
    const FileModel a = analyze("__global__ void k(float* x, int n) { int i = n; x[i] = 1; }");
    const FileModel b = analyze("\n\n__global__ void other(float* data, int count) {\n"
                                "  int index = count; // here\n  data[index] = 1;\n}");
    const FileModel c = analyze("__global__ void k(float* x, int n) { int i = n; x[i] = 2; }");
    EXPECT_EQ(a.kernels.at(0).normalisedHash, b.kernels.at(0).normalisedHash);
    EXPECT_NE(a.kernels.at(0).normalisedHash, c.kernels.at(0).normalisedHash);
}

TEST(LoopFunctions, AreHostFunctionsOfTheMainFileWithLoopsOverArrays) {
    const std::string text =
        "void scale(int n, float a, float* x) {\n"
        "    for (int i = 0; i < n; i++)\n        x[i] = a * x[i];\n}\n"
        "int count(int n) {\n    int sum = 0;\n    for (int i = 0; i < n; i++) sum += i;\n"
        "    int list[2] = {sum, 0};\n    return list[0];\n}\n"
        "void set(float* x) { x[0] = 1; }\n"
        "__global__ void k(int n, float* x) {\n    for (int i = 0; i < n; i++) x[i] = 0;\n}\n";
    const FileModel model = analyze(text);
    ASSERT_EQ(model.loopFunctions.size(), 1U);
    const KernelModel& function = model.loopFunctions.front();
    EXPECT_EQ(function.name, "scale");
    EXPECT_EQ(function.kind, FunctionKind::Host);
    ASSERT_EQ(function.loops.size(), 1U);
    EXPECT_EQ(function.loops[0].tripCountExpression->describe(function.body), "n");
    ASSERT_EQ(function.accesses.size(), 2U);
    for (const MemoryAccess& access : function.accesses)
        EXPECT_EQ(access.index->describe(function.body), "i");
    EXPECT_TRUE(function.parameters[2].isWritten);
    EXPECT_EQ(loopFunctionAt(model, static_cast<std::uint32_t>(text.find("x[i]"))), &function);
    EXPECT_EQ(loopFunctionAt(model, static_cast<std::uint32_t>(text.find("count"))), nullptr);
    EXPECT_EQ(model.kernels.size(), 1U);
    EXPECT_TRUE(model.deviceFunctions.empty());
}

} // namespace
} // namespace kernelskill::analysis
