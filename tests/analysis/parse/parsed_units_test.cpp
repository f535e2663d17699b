/// A unit makes the same model of a text, whatever texts it has parsed before.
#include "analysis/parse/parsed_units.h"
#include "tests/analysis/support/analyze.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace kernelskill::analysis {
namespace {

std::string textOf(Span span) {
    return fmt::format("{}-{}", span.begin, span.end);
}

/// All that edits and checks rest on, a line each.
std::string textOf(const FunctionBody& body) {
    std::string text;
    for (const Variable& variable : body.variables)
        text += fmt::format("variable {} {} {} {}\n", variable.name, variable.type.spelling,
                            static_cast<int>(variable.storage), textOf(variable.span));
    for (const Expr& expr : body.exprs)
        text += fmt::format("expr {} {} {} {} {} {} {} {} {} {} [{}]\n",
                            static_cast<int>(expr.kind), textOf(expr.span), expr.fromMacro,
                            expr.type.spelling, expr.op, expr.name, expr.axis, expr.variable,
                            expr.integer, expr.floating, fmt::join(expr.children, " "));
    for (const Stmt& stmt : body.stmts)
        text += fmt::format("stmt {} {} {} {} {} [{}] {}\n", static_cast<int>(stmt.kind),
                            textOf(stmt.span), stmt.parent, stmt.expr, stmt.condition,
                            fmt::join(stmt.children, " "), stmt.pragma);
    return text;
}

std::string textOf(const FileModel& file) {
    std::string text = fmt::format("mode {}\n", static_cast<int>(file.mode));
    for (const Diagnostic& diagnostic : file.diagnostics)
        text +=
            fmt::format("{} {} {}\n", textOf(diagnostic.span), diagnostic.code, diagnostic.message);
    for (const KernelModel& kernel : file.kernels) {
        text += fmt::format("kernel {} {}\n", kernel.qualifiedName, textOf(kernel.nameSpan));
        for (const LaunchSite& launch : kernel.launches)
            text += fmt::format("launch {} {}\n", textOf(launch.span), launch.host);
        text += textOf(kernel.body);
    }
    for (const HostFunction& function : file.hostFunctions)
        text += fmt::format("host {} {}\n", function.name, textOf(function.span)) +
                textOf(function.body);
    return text;
}

class ParsedUnitsTest : public ::testing::Test {
protected:
    [[nodiscard]] static std::string modelOf(const std::filesystem::path& file,
                                             const std::string& text, const Toolchain& toolchain) {
        const auto model = analyzeFile(file, text, {}, toolchain);
        EXPECT_TRUE(model) << model.error().describe();
        return model ? textOf(*model) : "";
    }
    void expectSame(const std::string& text, const std::string& name = "test.cu") const {
        const std::filesystem::path file = folder_.path() / name;
        EXPECT_EQ(modelOf(file, text, shared_), modelOf(file, text, plain_)) << text;
    }

    kernelskill::testing::TemporaryFolder folder_;
    Toolchain plain_ = testing::preludeToolchain();
    Toolchain shared_ = [this] {
        Toolchain toolchain = plain_;
        toolchain.units = std::make_shared<ParsedUnits>(2);
        return toolchain;
    }();
};

const std::string kernel = "__global__ void scale(float* x, int n) {\n    int i = blockIdx.x * "
                           "blockDim.x + threadIdx.x;\n    if (i < n) x[i] *= FACTOR;\n}\nvoid "
                           "run(float* x, int n) { scale<<<n / 64, 64>>>(x, n); }\n";
const std::string head = "#include <cuda_runtime.h>\n#include \"factor.h\"\n";

TEST_F(ParsedUnitsTest, ForgetsEarlierTexts) {
    std::ofstream(folder_.path() / "factor.h") << "#define FACTOR 2.0f\n";
    expectSame(head + kernel);
    expectSame(head + "#define FACTOR 3.0f\n" + kernel);
    expectSame(head + "#define EXTRA(x) ((x) + 1)\n" + kernel);
    expectSame(head + "template <typename T> struct Pair { T a, b; };\n" + kernel);
    expectSame(head + kernel);
    expectSame(head + "__global__ void broken( {\n" + kernel);
    expectSame(head + "int n = unknownName;\n" + kernel);
    expectSame(head + kernel);
    expectSame(kernel);
    expectSame("");
    expectSame(head + kernel);
}

TEST_F(ParsedUnitsTest, SeesHeadersThatChange) {
    const auto header = folder_.path() / "factor.h";
    std::ofstream(header) << "#define FACTOR 2.0f\n";
    expectSame(head + kernel);
    std::ofstream(header) << "#define FACTOR wrongFactor\n";
    expectSame(head + kernel);
    std::filesystem::remove(header);
    expectSame(head + kernel);
}

TEST_F(ParsedUnitsTest, TellsFilesCommandsAndUnsavedHeadersApart) {
    std::ofstream(folder_.path() / "factor.h") << "#define FACTOR 2.0f\n";
    const std::filesystem::path file = folder_.path() / "test.cu";
    const std::string text = head + kernel;
    CompileCommand defined;
    defined.definitions = {"n=rows"};
    const UnsavedFiles unsaved = {{(folder_.path() / "factor.h").string(), "#define FACTOR n\n"}};
    for (int round = 0; round < 2; ++round) {
        for (const CompileCommand& command : {CompileCommand(), defined})
            for (const UnsavedFiles& others : {UnsavedFiles(), unsaved}) {
                const auto own = analyzeFile(file, text, command, shared_, others);
                const auto fresh = analyzeFile(file, text, command, plain_, others);
                ASSERT_TRUE(own && fresh);
                EXPECT_EQ(textOf(*own), textOf(*fresh));
            }
        expectSame(text, "other.cu");
    }
}

TEST_F(ParsedUnitsTest, TriesTheToolkitForEachTextAnew) {
    auto found = findToolchain({});
    ASSERT_TRUE(found);
    if (!found->toolkit)
        GTEST_SKIP() << "no toolkit here";
    plain_ = *found;
    shared_ = *found;
    shared_.units = std::make_shared<ParsedUnits>();
    const std::string plain =
        "#include <cuda_runtime.h>\n__global__ void k(float* x) { *x = 1; }\n";
    // The prelude does not know the type.
    const std::string rare = plain + "void ask(cudaAsyncNotificationInfo_t* info) { info->type = "
                                     "cudaAsyncNotificationTypeOverBudget; }\n";
    ASSERT_TRUE(modelOf(folder_.path() / "test.cu", plain, plain_)
                    .starts_with(fmt::format("mode {}\n", static_cast<int>(ParseMode::Prelude))));
    ASSERT_TRUE(modelOf(folder_.path() / "test.cu", rare, plain_)
                    .starts_with(fmt::format("mode {}\n", static_cast<int>(ParseMode::Toolkit))));
    for (const std::string& text : {plain, rare, plain, rare, plain})
        expectSame(text);
}

TEST_F(ParsedUnitsTest, ServesManyThreads) {
    std::ofstream(folder_.path() / "factor.h") << "#define FACTOR 2.0f\n";
    std::vector<std::string> texts;
    for (int i = 0; i < 6; ++i)
        texts.push_back(head + std::string(static_cast<std::size_t>(i), '\n') + kernel);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            for (const std::string& text : texts)
                EXPECT_TRUE(analyzeFile(folder_.path() / "test.cu", text, {}, shared_));
        });
    threads.clear();
    for (const std::string& text : texts)
        expectSame(text);
}

TEST_F(ParsedUnitsTest, ReadsTextsWithPiecesCutOut) {
    const std::string text =
        testing::readFile(testing::sourceDirectory() / "tests/corpus/softmax_rows.cu");
    ASSERT_FALSE(text.empty());
    std::mt19937 random(5);
    for (int round = 0; round < 12; ++round) {
        const std::size_t begin = random() % text.size();
        std::string cut = text;
        cut.erase(begin, random() % 40);
        expectSame(cut);
    }
}

} // namespace
} // namespace kernelskill::analysis
