#include "analysis/features/features.h"
#include "analysis/parse/translation_unit.h"
#include "tests/analysis/support/analyze.h"
#include "tests/file_parameters.h"
#include "tests/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

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

std::string repeated(std::string_view text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i)
        result += text;
    return result;
}

std::string around(std::string_view open, std::string_view inner, std::string_view close,
                   int times) {
    return repeated(open, times) + std::string(inner) + repeated(close, times);
}

/// `before`, then a kernel with `code`, and one that has to be there whatever `code` does.
std::string deepText(const std::string& code, const std::string& before = "") {
    return before + "\n__global__ void k(int* x, int n) { " + code +
           " }\n__global__ void other(float* y) { y[threadIdx.x] = 1; }\n";
}

bool hasNote(const FileModel& model, std::string_view code) {
    return std::ranges::find(model.diagnostics, code, &Diagnostic::code) != model.diagnostics.end();
}

struct DeepCode {
    const char* name;
    std::string text;
    bool isCutOff = false; ///< A part is left out, with a note.
};

class DeepNesting : public ::testing::TestWithParam<DeepCode> {
protected:
    static void SetUpTestSuite() { prepareParser(); }
};

std::vector<DeepCode> deepCodes() {
    std::string elses;
    for (int i = 0; i < 2000; ++i)
        elses += "if (n == " + std::to_string(i) + ") n++; else ";
    std::string choices;
    for (int i = 0; i < 3000; ++i)
        choices += "n == " + std::to_string(i) + " ? 1 : ";
    const std::string functions = "__device__ int f(int a) { return a; }";
    return {
        {"minuses", deepText("x[0] = " + repeated("- ", 4000) + "n;"), true},
        {"terms", deepText("x[0] = 1" + repeated("+n", 50'000) + ";"), true},
        {"factors", deepText("x[0] = 1" + repeated("*(n+x[n])", 5000) + ";"), true},
        {"ifs", deepText(repeated("if (n) ", 3000) + "x[0] = 1;"), true},
        {"elses", deepText(elses + ";"), true},
        {"choices", deepText("x[0] = " + choices + "0;"), true},
        {"assignments", deepText("x[0] = " + repeated("n = ", 3000) + "0;"), true},
        {"casts", deepText("x[0] = " + repeated("(int)", 3000) + "n;"), true},
        {"calls", deepText("x[0] = " + around("f(", "n", ")", 200) + ";", functions)},
        {"types", deepText("A" + around("<A", "<int>", ">", 2000) + "* a = nullptr; x[0] = a != 0;",
                           "template <class T> struct A;")},
        {"pointers", deepText("int " + repeated("*", 3000) + "p = nullptr; x[0] = p != 0;")},
        {"arrays", deepText("int a" + repeated("[1]", 1000) + "; x[0] = 1;")},
        {"scopes", deepText("x[0] = 1;", around("namespace a {", "", "}", 200))},
        {"conditionals", deepText("x[0] = 1;", around("#if 1\n", "int a;\n", "#endif\n", 5000))},
        {"negations", deepText("x[0] = 1;", "#if " + repeated("!", 5000) + "1\n#endif\n")},
        {"statements", deepText(repeated("x[n] = n;", 40'000)), true},
    };
}

TEST_P(DeepNesting, GivesAModel) {
    const FileModel model = analyze(GetParam().text);
    EXPECT_EQ(model.kernels.size(), 2U);
    EXPECT_EQ(hasNote(model, "not-analysed"), GetParam().isCutOff);
    expectSound(model);
}

INSTANTIATE_TEST_SUITE_P(Texts, DeepNesting, ::testing::ValuesIn(deepCodes()),
                         [](const auto& info) { return info.param.name; });

TEST(Robustness, WhatIsLeftOutMayReadAndWriteWhatItMentions) {
    const FileModel model =
        analyze(deepText(repeated("if (n) ", 3000) + "x[0] = y[0];", "__device__ int y[1];"));
    const KernelModel* kernel = kernelNamed(model, "k");
    ASSERT_NE(kernel, nullptr);
    EXPECT_TRUE(kernel->parameters[0].isWritten);
    EXPECT_TRUE(kernel->parameters[0].escapes);
    EXPECT_TRUE(std::ranges::any_of(kernel->body.exprs,
                                    [](const Expr& expr) { return expr.name == omittedCode; }));
}

TEST(Robustness, BracketsWithoutEndAreNotParsed) {
    for (const std::string& text :
         {deepText("x[0] = " + around("(", "n", ")", 5000) + ";"),
          deepText(around("{", "", "}", 100'000)), deepText(repeated("{", 100'000)),
          deepText("x[0] = " + repeated("- ", 20'000) + "n;"),
          deepText("x[0] = n" + repeated(" < n", 100'000) + ";")}) {
        const FileModel model = analyze(text);
        ASSERT_EQ(model.diagnostics.size(), 1U);
        EXPECT_EQ(model.diagnostics[0].code, "nested-too-deeply");
        EXPECT_TRUE(model.kernels.empty());
    }
}

TEST(Robustness, MacrosWithoutMeasureAreNotParsed) {
    std::string chain = "#define A0 x[0] = 1;\n";
    std::string calls = "#define B0(x) x x\n";
    for (int i = 1; i < 40; ++i) {
        const std::string number = std::to_string(i);
        const std::string last = std::to_string(i - 1);
        chain += "#define A" + number + " A" + last + " A" + last + "\n";
        calls += "#define B" + number + "(x) B" + last + "(x x)\n";
    }
    for (const std::string& text : {deepText("A39", chain), deepText("B39(n;)", calls),
                                    deepText(around("C(", "n;", ")", 100), "#define C(x) x x"),
                                    deepText("D", "#define D " + around("(", "n", ")", 5000))}) {
        const FileModel model = analyze(text);
        ASSERT_EQ(model.diagnostics.size(), 1U);
        EXPECT_EQ(model.diagnostics[0].code, "macro-explosion");
    }
    const FileModel model =
        analyze(deepText("E(n) E(E(n)) F", "#define E(x) x; E(x) F\n#define F F x[0] = 1;"));
    EXPECT_EQ(model.kernels.size(), 2U);
}

/// Whether a text that overflows the parser's stack gives an error, also when parsed again, and
/// other texts are parsed after it.
bool outlivesAnOverflow() {
    prepareParser();
    std::string macros = "#define M0 " + repeated("- ", 10) + "\n";
    for (int i = 1; i < 5; ++i)
        macros += "#define M" + std::to_string(i) + " " +
                  repeated("M" + std::to_string(i - 1) + " ", 10) + "\n";
    const std::string deep = deepText("x[0] = M4 n;", macros);
    const Toolchain toolchain = testing::preludeToolchain();
    const auto failed = TranslationUnit::parse("/nowhere/t.cu", deep, {}, toolchain);
    if (failed || !failed.error().what.contains("crashed"))
        return false;
    auto unit = TranslationUnit::parse("/nowhere/t.cu", deepText("x[0] = n;"), {}, toolchain);
    return unit && unit->model().kernels.size() == 2 && !unit->reparse(deep);
}

TEST(Robustness, AnOverflowOfTheParserCostsTheDocumentOnly) {
    // In a process of its own, because a crashed parse leaks what it had allocated.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(std::_Exit(outlivesAnOverflow() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(Robustness, SmallTextsThatGrowAreFollowedOnlySoFar) {
    std::string doubled = "int a0 = threadIdx.x + n;";
    std::string squared = "int a0 = threadIdx.x + blockIdx.x + n;";
    for (int i = 1; i < 40; ++i) {
        const std::string last = "a" + std::to_string(i - 1);
        const std::string name = "int a" + std::to_string(i) + " = ";
        doubled += name + last + " + " + last + ";";
        squared += name + last + " * " + last + ";";
    }
    for (const std::string& code :
         {doubled + "x[a39] = 1;", squared + "x[a39] = 1;",
          "int a = threadIdx.x;" + repeated("a = a * a;", 60) + "x[a] = 1;"}) {
        const FileModel model = analyze(deepText(code));
        ASSERT_EQ(model.kernels.size(), 2U);
        const KernelModel& kernel = model.kernels[0];
        for (const MemoryAccess& access : kernel.accesses)
            EXPECT_FALSE(access.index && access.index->isTooLarge());
        EXPECT_FALSE(extractFeatures(kernel).accesses.empty());
    }
}

TEST(Robustness, AnEmptyFileIsFine) {
    const FileModel model = analyze("");
    EXPECT_TRUE(model.diagnostics.empty());
    EXPECT_TRUE(model.kernels.empty());
}

class Corpus : public ::testing::TestWithParam<fs::path> {};
using CorpusWithToolkit = Corpus;

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
    for (const Diagnostic& diagnostic : model->diagnostics)
        if (diagnostic.severity == Severity::Error ||
            diagnostic.origin == DiagnosticOrigin::Compiler ||
            diagnostic.origin == DiagnosticOrigin::Device)
            ADD_FAILURE() << diagnostic.file << ":"
                          << model->source->lineColumn(diagnostic.span.begin).line + 1 << ": "
                          << diagnostic.message;
    EXPECT_FALSE(model->kernels.empty());
    expectSound(*model);
}

TEST(CorpusSize, HoldsEnoughToMeanSomething) {
    EXPECT_GE(corpusFiles().size(), 45u);
}

TEST_P(Corpus, HasNoFalseErrorWithThePrelude) {
    expectClean(GetParam(), testing::preludeToolchain());
}

TEST_P(CorpusWithToolkit, HasNoFalseError) {
    const Result<Toolchain> toolchain =
        findToolchain({.cudaPath = std::nullopt, .preferToolkit = true});
    ASSERT_TRUE(toolchain);
    if (!toolchain->toolkit)
        GTEST_SKIP() << "no CUDA toolkit on this machine: only the prelude was tried";
    expectClean(GetParam(), *toolchain);
}

INSTANTIATE_TEST_SUITE_P(Files, Corpus, ::testing::ValuesIn(corpusFiles()),
                         kernelskill::testing::fileTestName);
INSTANTIATE_TEST_SUITE_P(Files, CorpusWithToolkit, ::testing::ValuesIn(sampleOf(corpusFiles(), 3)),
                         kernelskill::testing::fileTestName);

} // namespace
} // namespace kernelskill::analysis
