#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using testing::analyze;
using testing::textOf;

TEST(Launches, ConfigurationAndArgumentsAreFound) {
    const FileModel model = analyze("__global__ void k(float* x, int n) { x[n] = 0; }\n"
                                    "void run(float* p, cudaStream_t s) {\n"
                                    "  dim3 block(32, 8);\n"
                                    "  k<<<dim3(4, 2), block, 64 * sizeof(float), s>>>(p, 7);\n"
                                    "  k<<<1, 128>>>(p, 1);\n}\n");
    const KernelModel& kernel = model.kernels.at(0);
    ASSERT_EQ(kernel.launches.size(), 2U);
    const LaunchSite& first = kernel.launches[0];
    const FunctionBody& host = model.hostFunctions.at(first.host).body;
    EXPECT_EQ(textOf(model, first.span), "k<<<dim3(4, 2), block, 64 * sizeof(float), s>>>(p, 7)");
    EXPECT_EQ(textOf(model, first.configurationSpan),
              "<<<dim3(4, 2), block, 64 * sizeof(float), s>>>");
    EXPECT_EQ(host.expr(first.grid).kind, ExprKind::InitList);
    EXPECT_EQ(host.expr(first.grid).name, "dim3");
    EXPECT_EQ(host.expr(first.grid).children.size(), 2U);
    EXPECT_EQ(host.expr(first.block).kind, ExprKind::Variable);
    EXPECT_EQ(first.constantBlock, (std::vector<std::int64_t>{32, 8, 1}));
    EXPECT_NE(first.sharedBytes, noId);
    EXPECT_NE(first.stream, noId);
    ASSERT_EQ(first.argumentSpans.size(), 2U);
    EXPECT_EQ(textOf(model, first.argumentSpans[1]), "7");
    const LaunchSite& second = kernel.launches[1];
    EXPECT_EQ(host.expr(second.block).integer, 128);
    EXPECT_EQ(second.sharedBytes, noId);
    EXPECT_EQ(second.stream, noId);
}

TEST(Launches, BrokenBracketsAreJoinedWhereTheyStand) {
    const std::string text = "__global__ void k(float* x, int n) { x[n] = 0; }\n"
                             "void run(float* p) {\n"
                             "  k << < 4, 32 >> > (p, 7);\n  k<<<1, 64>>>(p, 1);\n}\n";
    const FileModel model = analyze(text);
    EXPECT_TRUE(model.diagnostics.empty());
    EXPECT_EQ(model.source->text(), text) << "the text stays as it is";
    const KernelModel& kernel = model.kernels.at(0);
    ASSERT_EQ(kernel.launches.size(), 2U);
    const LaunchSite& first = kernel.launches[0];
    EXPECT_EQ(textOf(model, first.span), "k << < 4, 32 >> > (p, 7)");
    EXPECT_EQ(model.hostFunctions.at(first.host).body.expr(first.grid).integer, 4);
    EXPECT_EQ(model.hostFunctions.at(first.host).body.expr(first.block).integer, 32);
    EXPECT_EQ(textOf(model, first.argumentSpans.at(1)), "7");
}

TEST(Launches, TemplateArgumentsAreThoseWrittenOrDeduced) {
    const FileModel model =
        analyze("template <typename T, int N> __global__ void a(T* x) { x[N] = 0; }\n"
                "template <typename T> __global__ void b(T* x) { x[0] = 0; }\n"
                "void run(float* p) { a<float, 4><<<1, 2>>>(p); b<<<1, 2>>>(p); }\n"
                "template <typename T> void generic(T* p) { a<T, 8><<<1, 2>>>(p); }\n");
    ASSERT_EQ(model.kernels.size(), 2U);
    ASSERT_EQ(model.kernels[0].launches.size(), 2U);
    using Texts = std::vector<std::string>;
    EXPECT_EQ(model.kernels[0].launches[0].templateArguments, (Texts{"float", "4"}));
    EXPECT_EQ(model.kernels[0].launches[1].templateArguments, (Texts{"T", "8"}));
    EXPECT_EQ(model.kernels[1].launches.at(0).templateArguments, (Texts{"float"}));
}

TEST(Launches, ThroughAMacroAreMarked) {
    const FileModel model = analyze("#define LAUNCH(f, g, b, ...) f<<<g, b>>>(__VA_ARGS__)\n"
                                    "__global__ void k(int n) {}\n"
                                    "void run() { LAUNCH(k, 1, 2, 3); }\n");
    ASSERT_EQ(model.kernels.at(0).launches.size(), 1U);
    EXPECT_TRUE(model.kernels[0].launches[0].fromMacro);
}

TEST(Launches, AVariableThatNamesTheKernelIsFollowed) {
    const FileModel model = analyze("template <typename T> __global__ void k(T* x) {}\n"
                                    "void run(float* p) { auto f = k<float>; f<<<1, 2>>>(p); }\n");
    EXPECT_EQ(model.kernels.at(0).launches.size(), 1U);
}

TEST(Kernels, AttributesNamesAndParametersAreRead) {
    const FileModel model = analyze("#define THREADS 256\nnamespace blas {\n"
                                    "template <typename T, int N = 2>\n"
                                    "__global__ void __launch_bounds__(THREADS * 2, 3) axpy(const "
                                    "T* __restrict__ x, float4* y) {\n"
                                    "  y[N] = y[0];\n}\n}\n");
    const KernelModel& kernel = model.kernels.at(0);
    EXPECT_EQ(kernel.name, "axpy");
    EXPECT_EQ(kernel.qualifiedName, "blas::axpy");
    EXPECT_EQ(kernel.launchBoundsThreads, 512);
    EXPECT_EQ(kernel.launchBoundsBlocks, 3);
    EXPECT_EQ(textOf(model, kernel.nameSpan), "axpy");
    EXPECT_TRUE(textOf(model, kernel.span).starts_with("template"));
    EXPECT_EQ(textOf(model, kernel.parameters.at(0).span), "const T* __restrict__ x");
    EXPECT_TRUE(kernel.parameters[0].type.isRestrict);
    EXPECT_TRUE(kernel.parameters[0].type.pointeeConst);
    EXPECT_TRUE(kernel.parameters[0].type.isDependent);
    EXPECT_EQ(kernel.parameters[1].type.lanes, 4);
    EXPECT_EQ(kernel.parameters[1].type.elementSize, 16U);
    ASSERT_EQ(kernel.templateParameters.size(), 2U);
    EXPECT_EQ(kernel.templateParameters[1].defaultArgument, "2");
}

TEST(Kernels, TemplatesWithOverloadedOperatorsKeepTheirOperators) {
    const FileModel model =
        analyze("#include <cuda_fp16.h>\n"
                "template <typename T> __global__ void k(T* x, T a) { x[0] += a * x[1]; }\n");
    const FunctionBody& body = model.kernels.at(0).body;
    const Stmt& root = body.stmt(body.root);
    const Expr& sum = body.expr(body.stmt(root.children.at(0)).expr);
    EXPECT_EQ(sum.kind, ExprKind::Binary);
    EXPECT_EQ(sum.op, "+=");
    EXPECT_EQ(body.expr(sum.children.at(1)).op, "*");
}

TEST(Kernels, KernelAtFindsTheOneAroundAnOffset) {
    const std::string text = "__global__ void a() {}\nint x;\n__global__ void b() {}\n";
    const FileModel model = analyze(text);
    const auto offset = [&](const char* what) {
        return static_cast<std::uint32_t>(text.find(what));
    };
    EXPECT_EQ(kernelAt(model, offset("b()"))->name, "b");
    EXPECT_EQ(kernelAt(model, offset("int x")), nullptr);
    EXPECT_EQ(kernelNamed(model, "a")->name, "a");
    EXPECT_EQ(kernelNamed(model, "c"), nullptr);
}

} // namespace
} // namespace kernelskill::analysis
