#include "analysis/parse/translation_unit.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kernelskill::analysis {
namespace {

namespace fs = std::filesystem;
using testing::analyze;
using testing::errorsOf;
using testing::readFile;

/// Spans must lie in the file whatever it holds: editors and skills slice by them.
void expectSound(const FileModel& model) {
    const std::uint32_t size = model.source->size();
    for (const Diagnostic& diagnostic : model.diagnostics)
        EXPECT_LE(diagnostic.span.begin, size);
    for (const KernelModel& kernel : model.kernels) {
        if (kernel.file != model.file)
            continue;
        EXPECT_LE(kernel.span.end, size);
        for (const Expr& expr : kernel.body.exprs)
            EXPECT_TRUE(expr.span.begin <= expr.span.end && expr.span.end <= size);
        for (const Stmt& stmt : kernel.body.stmts)
            EXPECT_TRUE(stmt.span.begin <= stmt.span.end && stmt.span.end <= size);
        for (const MemoryAccess& access : kernel.accesses)
            EXPECT_LT(access.expression, kernel.body.exprs.size());
    }
}

TEST(Robustness, AFileCutAnywhereGivesAModel) {
    for (const char* name : {"examples/reduce.cu", "examples/transpose.cu"}) {
        const std::string text = readFile(testing::sourceDirectory() / name);
        ASSERT_FALSE(text.empty());
        Result<TranslationUnit> unit = TranslationUnit::parse(
            testing::sourceDirectory() / name, text, CompileCommand{}, testing::preludeToolchain());
        ASSERT_TRUE(unit);
        for (std::size_t length = 0; length < text.size(); length += 23) {
            ASSERT_TRUE(unit->reparse(text.substr(0, length)));
            expectSound(unit->model());
        }
    }
}

TEST(Robustness, EveryKernelThatParsesIsThere) {
    const FileModel model = analyze("__global__ void a(float* x) { x[0] = 1; }\n"
                                    "__global__ void b(float* x) { x[0] = = ; float }\n"
                                    "__global__ void c(float* x) { x[0] = 1; }\n");
    EXPECT_FALSE(errorsOf(model).empty());
    EXPECT_TRUE(
        std::ranges::any_of(model.kernels, [](const KernelModel& k) { return k.name == "a"; }));
    EXPECT_TRUE(
        std::ranges::any_of(model.kernels, [](const KernelModel& k) { return k.name == "c"; }));
}

TEST(Robustness, AnImageNamedCuGetsOneClearError) {
    const FileModel model = analyze(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", 18));
    ASSERT_EQ(model.diagnostics.size(), 1U);
    EXPECT_EQ(model.diagnostics[0].code, "not-text");
    EXPECT_TRUE(model.kernels.empty());
}

TEST(Robustness, InvalidUtf8IsReportedOnce) {
    const FileModel model =
        analyze("int \xff\xfe;\nint \xc3\x28;\n__global__ void k() {}\n// \xe9t\xe9\n");
    const auto count = std::ranges::count(model.diagnostics, "invalid-utf8", &Diagnostic::code);
    EXPECT_LE(count, 1);
    EXPECT_EQ(model.kernels.size(), 1U);
}

TEST(Robustness, DeepNestingDoesNotOverflowTheStack) {
    std::string sum = "1";
    for (int i = 0; i < 5000; ++i)
        sum += "+n";
    std::string chain;
    for (int i = 0; i < 800; ++i)
        chain += "if (n == " + std::to_string(i) + ") n++; else ";
    const FileModel model =
        analyze("__global__ void k(int* x, int n) { x[0] = " + sum + ";" + chain + "; }");
    EXPECT_EQ(model.kernels.size(), 1U);
}

TEST(Robustness, AnEmptyFileIsFine) {
    const FileModel model = analyze("");
    EXPECT_TRUE(model.diagnostics.empty());
    EXPECT_TRUE(model.kernels.empty());
}

class Corpus : public ::testing::TestWithParam<fs::path> {};

std::vector<fs::path> corpusFiles() {
    std::vector<fs::path> files;
    for (const char* folder : {"tests/corpus", "examples"})
        for (const auto& entry : fs::directory_iterator(testing::sourceDirectory() / folder))
            if (entry.path().extension() == ".cu")
                files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

void expectClean(const fs::path& file, const Toolchain& toolchain) {
    const CompileCommand command = CompileCommands().inferred(file, testing::sourceDirectory());
    const Result<FileModel> model = analyzeFile(file, readFile(file), command, toolchain);
    ASSERT_TRUE(model) << model.error().describe();
    for (const Diagnostic& error : errorsOf(*model))
        ADD_FAILURE() << error.file << ":" << model->source->lineColumn(error.span.begin).line + 1
                      << ": " << error.message;
    EXPECT_FALSE(model->kernels.empty());
    expectSound(*model);
}

TEST_P(Corpus, HasNoFalseErrorWithThePrelude) {
    expectClean(GetParam(), testing::preludeToolchain());
}

TEST_P(Corpus, HasNoFalseErrorWithTheToolkit) {
    const Result<Toolchain> toolchain =
        findToolchain({.cudaPath = std::nullopt, .preferToolkit = true});
    ASSERT_TRUE(toolchain);
    if (!toolchain->toolkit)
        GTEST_SKIP() << "no CUDA toolkit on this machine";
    expectClean(GetParam(), *toolchain);
}

INSTANTIATE_TEST_SUITE_P(Files, Corpus, ::testing::ValuesIn(corpusFiles()), [](const auto& info) {
    std::string name = info.param.parent_path().stem().string() + "_" + info.param.stem().string();
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
});

} // namespace
} // namespace kernelskill::analysis
