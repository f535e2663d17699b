#include "analysis/parse/translation_unit.h"
#include "tests/analysis/support/analyze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace kernelskill::analysis {
namespace {

using testing::analyze;
using testing::errorsOf;
using testing::textOf;

TEST(Diagnostics, CarryAStableCodeAndTheCompilersFix) {
    const FileModel model = analyze("__global__ void k(float* x) {\n  x[0] = 1\n}\n");
    const std::vector<Diagnostic> errors = errorsOf(model);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, "expected-semicolon");
    ASSERT_EQ(errors[0].fixIts.size(), 1U);
    EXPECT_EQ(errors[0].fixIts[0].edits.at(0).newText, ";");
    EXPECT_EQ(model.kernels.size(), 1U) << "a broken kernel is still a kernel";
}

TEST(Diagnostics, AMisspelledBuiltinIsCorrected) {
    const FileModel model = analyze("__global__ void k(int* x) { x[threadIx.x] = 1; }\n");
    const std::vector<Diagnostic> errors = errorsOf(model);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, "undeclared-identifier");
    EXPECT_EQ(textOf(model, errors[0].span), "threadIx");
    EXPECT_EQ(errors[0].fixIts.at(0).edits.at(0).newText, "threadIdx");
}

TEST(Diagnostics, AMissingLibraryHeaderIsANoticeAndItsNamesAreNotErrors) {
    const FileModel model =
        analyze("#include <cudnn.h>\n"
                "void run(cudnnHandle_t h) { cudnnDestroy(h); int n = cudnnGetVersion(); }\n"
                "__global__ void k(float* x) { x[0] = 1; }\n");
    EXPECT_TRUE(errorsOf(model).empty());
    ASSERT_EQ(model.diagnostics.size(), 1U);
    EXPECT_EQ(model.diagnostics[0].severity, Severity::Information);
    EXPECT_EQ(model.diagnostics[0].origin, DiagnosticOrigin::Notice);
    EXPECT_EQ(model.kernels.size(), 1U);
}

TEST(Diagnostics, AMissingHeaderOfTheUserIsAnError) {
    const FileModel model = analyze("#include \"not_there.h\"\nint x;\n");
    const std::vector<Diagnostic> errors = errorsOf(model);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, "include-not-found");
}

TEST(Diagnostics, ATextureReferenceIsSaidToBeRemoved) {
    for (const char* name : {"texture", "surface"}) {
        const std::vector<Diagnostic> errors =
            errorsOf(analyze(std::string(name) + "<float, 1> values;\n"
                                                 "__global__ void k(float* x) { x[0] = 1; }\n"));
        ASSERT_FALSE(errors.empty());
        EXPECT_EQ(errors[0].code, "unknown-type");
        EXPECT_THAT(errors[0].message, ::testing::HasSubstr("removed in CUDA 12"));
    }
    const std::vector<Diagnostic> others = errorsOf(analyze("textures<float, 1> values;\n"));
    ASSERT_FALSE(others.empty());
    EXPECT_THAT(others[0].message, ::testing::Not(::testing::HasSubstr("CUDA 12")));
}

TEST(Diagnostics, ASyntaxErrorIsKeptBesideAMissingHeader) {
    const FileModel model = analyze("#include <cudnn.h>\nvoid f() { int a = 1 }\n");
    const std::vector<Diagnostic> errors = errorsOf(model);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, "expected-semicolon");
}

TEST(Diagnostics, AMissingHeaderHidesOnlyWhatItMayHaveDeclared) {
    const FileModel model =
        analyze("#include <cudnn.h>\n"
                "struct Net { cudnnHandle_t handle; };\n"
                "void unknown(Net net) {\n"
                "  auto size = cudnnGetSize(net.handle);\n"
                "  float* p = size;\n"
                "}\n"
                "__global__ void LIBRARY_BOUNDS(256) macro(float* x) { x[0] = 1; }\n"
                "void known(int n, float* x) {\n"
                "  float* q = n;\n"
                "  cudaMaloc(&x, 4);\n"
                "}\n"
                "__global__ void k(int* x) { x[threadIx.x] = 1; }\n");
    std::vector<std::string> codes;
    for (const Diagnostic& error : errorsOf(model))
        codes.push_back(textOf(model, error.span) + ": " + error.code);
    EXPECT_EQ(codes,
              (std::vector<std::string>{"q: incompatible-types", "cudaMaloc: undeclared-identifier",
                                        "threadIx: undeclared-identifier"}));
}

TEST(Diagnostics, ANameOfCudasThatThePreludeLacksIsANotice) {
    const FileModel model =
        analyze("void attribute() {\n"
                "  CUunheardOfAttribute value;\n"
                "  value.field = 3;\n"
                "  float* wrong = cuUnheardOfGet(2);\n"
                "  cudaUnheardOfSet(1);\n"
                "}\n"
                "__global__ void k(unsigned* x) { x[0] = __vunheard4(x[1]); }\n");
    EXPECT_TRUE(errorsOf(model).empty());
    const auto notices =
        std::ranges::count(model.diagnostics, "cuda-name-not-known", &Diagnostic::code);
    EXPECT_EQ(notices, 4) << "one a name";
    const FileModel wrong =
        analyze("void f(float* x) { cudaMaloc(&x, 4); unheardOf(x); }\n"
                "__global__ void attribute() { __share__ float s[4]; }\n"
                "__global__ void header(float x) { __half h; float y = __float2half(x); }\n");
    std::vector<std::string> names;
    for (const Diagnostic& error : errorsOf(wrong))
        names.push_back(textOf(wrong, error.span));
    EXPECT_THAT(names, ::testing::IsSupersetOf(
                           {"cudaMaloc", "unheardOf", "__share__", "__half", "__float2half"}));
}

TEST(Diagnostics, ErrorsInAHeaderAppearAtTheInclude) {
    const std::filesystem::path folder =
        std::filesystem::weakly_canonical(::testing::TempDir()) / "ks_header_error";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "middle.h") << "#include \"broken.h\"\n";
    std::ofstream(folder / "broken.h") << "int f() { return nowhere; }\n";
    const FileModel model =
        analyze("int before;\n#include \"middle.h\"\n", (folder / "main.cu").string());
    const std::vector<Diagnostic> errors = errorsOf(model);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].file, model.file);
    EXPECT_EQ(textOf(model, errors[0].span), "#include \"middle.h\"");
    ASSERT_FALSE(errors[0].related.empty());
    EXPECT_EQ(errors[0].related[0].file, (folder / "broken.h").string());
    EXPECT_EQ(model.userFiles.size(), 3U);
    std::filesystem::remove_all(folder);
}

TEST(Diagnostics, ALambdaMayBeAnArgumentOfWhatAHeaderOnlyDeclares) {
    const FileModel model =
        analyze("#include <cooperative_groups.h>\n"
                "#include <cooperative_groups/reduce.h>\n"
                "namespace cg = cooperative_groups;\n"
                "__global__ void k(int* x) {\n"
                "  auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n"
                "  x[0] = cg::reduce(tile, x[1], [](int a, int b) { return a * b; });\n"
                "}\n"
                "void launchSize(int* grid, int* block) {\n"
                "  cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, k, [](int n) { "
                "return n; });\n"
                "}\n");
    EXPECT_TRUE(errorsOf(model).empty());
    EXPECT_EQ(model.kernels.size(), 1U);
}

TEST(Diagnostics, TheNamespaceOfExperimentalPipelinesExists) {
    const FileModel model =
        analyze("#include <mma.h>\nnamespace pipelines = nvcuda::experimental;\n");
    EXPECT_TRUE(errorsOf(model).empty());
}

TEST(Diagnostics, WhatNvccIncludesUnaskedIsThere) {
    const std::string text = "int limit() { return INT_MAX - toupper('a'); }\n"
                             "__global__ void k(int* x) { x[0] = INT_MAX; memcpy(x + 1, x, 4); }\n";
    EXPECT_TRUE(errorsOf(analyze(text)).empty());
    const Result<Toolchain> toolchain =
        findToolchain({.cudaPath = std::nullopt, .preferToolkit = true});
    if (!toolchain || !toolchain->toolkit)
        return;
    const Result<FileModel> model =
        analyzeFile("/nowhere/unasked.cu", text, CompileCommand{}, *toolchain, {});
    ASSERT_TRUE(model);
    EXPECT_TRUE(errorsOf(*model).empty());
}

// Sample code asks by the headers' own guards what it may use.
TEST(Diagnostics, TheHeadersOfCudaSayThatTheyWereIncluded) {
    const FileModel model =
        analyze("#include <cublas_v2.h>\n"
                "#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || \\\n"
                "    !defined(CUBLAS_API_H_)\n"
                "#error these are always there, or were included\n"
                "#endif\n"
                "#if defined(__CUDA_FP8_H__) || defined(_CUFFT_H_) || defined(CURAND_H_)\n"
                "#error these were not included\n"
                "#endif\n");
    EXPECT_TRUE(errorsOf(model).empty());
}

TEST(Diagnostics, GraphsAndSharedMemoryOfOtherInterfacesAreDeclared) {
    const FileModel model =
        analyze("void build(cudaGraph_t graph, cudaGraphExec_t exec, int descriptor) {\n"
                "  cudaGraphNode_t nodes[3];\n"
                "  cudaMemAllocNodeParams allocation = {};\n"
                "  allocation.poolProps.allocType = cudaMemAllocationTypePinned;\n"
                "  cudaGraphAddMemAllocNode(&nodes[0], graph, nullptr, 0, &allocation);\n"
                "  cudaGraphAddMemFreeNode(&nodes[1], graph, &nodes[0], 1, allocation.dptr);\n"
                "  cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};\n"
                "  cudaGraphConditionalHandleCreate(&loop.conditional.handle, graph, 1,\n"
                "                                   cudaGraphCondAssignDefault);\n"
                "  loop.conditional.type = cudaGraphCondTypeWhile;\n"
                "  cudaGraphAddNode(&nodes[2], graph, nullptr, nullptr, 0, &loop);\n"
                "  cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[0], nullptr, nullptr, 4,\n"
                "                                     cudaMemcpyDeviceToHost);\n"
                "  cudaExternalMemoryHandleDesc handle = {};\n"
                "  handle.type = cudaExternalMemoryHandleTypeOpaqueFd;\n"
                "  handle.handle.fd = descriptor;\n"
                "  cudaExternalMemory_t memory;\n"
                "  cudaError_t error = cudaImportExternalMemory(&memory, &handle);\n"
                "  if (error == cudaErrorStreamCaptureIsolation || error == "
                "cudaErrorUnsupportedLimit) return;\n"
                "}\n"
                "__global__ void stop(cudaGraphConditionalHandle handle) {\n"
                "  cudaGraphSetConditional(handle, 0);\n"
                "}\n");
    EXPECT_TRUE(errorsOf(model).empty());
}

TEST(Diagnostics, ClustersParseWithTheToolkit) {
    const Result<Toolchain> toolchain =
        findToolchain({.cudaPath = std::nullopt, .preferToolkit = true});
    if (!toolchain || !toolchain->toolkit)
        GTEST_SKIP() << "no CUDA toolkit here";
    const Result<FileModel> model =
        analyzeFile("/nowhere/clusters.cu",
                    "#include <cooperative_groups.h>\n"
                    "__global__ void k(unsigned* x) {\n"
                    "  auto cluster = cooperative_groups::this_cluster();\n"
                    "  cluster.sync();\n"
                    "  x[0] = cluster.block_rank() + cluster.num_blocks();\n"
                    "}\n",
                    CompileCommand{}, *toolchain, {});
    ASSERT_TRUE(model);
    EXPECT_EQ(model->mode, ParseMode::Toolkit);
    EXPECT_TRUE(errorsOf(*model).empty());
    EXPECT_EQ(model->kernels.size(), 1U);
}

TEST(Diagnostics, AHostFunctionCalledFromAKernelIsAnError) {
    const FileModel model = analyze("void host() {}\n__global__ void k() { host(); }\n");
    const std::vector<Diagnostic> errors = errorsOf(model);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, "host-call-in-device-code");
}

TEST(Diagnostics, AReparseSeesTheNewText) {
    const std::string good = "__global__ void k(float* x) { x[0] = 1; }\n";
    Result<TranslationUnit> unit = TranslationUnit::parse("/nowhere/a.cu", good, CompileCommand{},
                                                          testing::preludeToolchain());
    ASSERT_TRUE(unit);
    EXPECT_TRUE(unit->diagnostics().empty());
    ASSERT_TRUE(unit->reparse("__global__ void other(float* x) { y[0] = 1; }\n"));
    EXPECT_EQ(unit->diagnostics().size(), 1U);
    EXPECT_EQ(unit->model().kernels.at(0).name, "other");
    ASSERT_TRUE(unit->reparse(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)));
    EXPECT_EQ(unit->diagnostics().at(0).code, "not-text");
    ASSERT_TRUE(unit->reparse(good));
    EXPECT_TRUE(unit->diagnostics().empty());
}

} // namespace
} // namespace kernelskill::analysis
