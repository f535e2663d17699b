#include "analysis/parse/translation_unit.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

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

TEST(Diagnostics, ASyntaxErrorIsKeptBesideAMissingHeader) {
    const FileModel model = analyze("#include <cudnn.h>\nvoid f() { int a = 1 }\n");
    const std::vector<Diagnostic> errors = errorsOf(model);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, "expected-semicolon");
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

TEST(Diagnostics, ClustersParseWithTheToolkit) {
    const Result<Toolchain> toolchain = findToolchain({});
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
