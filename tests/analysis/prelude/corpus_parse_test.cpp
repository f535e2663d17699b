#include "analysis/command/toolchain.h"
#include "analysis/parse/translation_unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kernelskill::analysis {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus() {
    std::vector<fs::path> files;
    for (const char* folder : {"tests/corpus", "examples"})
        for (const fs::directory_entry& entry :
             fs::directory_iterator(fs::path(KERNELSKILL_SOURCE_DIR) / folder))
            if (entry.path().extension() == ".cu")
                files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

std::string contents(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class ParsedCorpus : public ::testing::TestWithParam<fs::path> {
protected:
    static void expectClean(const Toolchain& toolchain) {
        CompileCommand command;
        command.directory = GetParam().parent_path();
        Result<TranslationUnit> unit =
            TranslationUnit::parse(GetParam(), contents(GetParam()), command, toolchain);
        ASSERT_TRUE(unit.has_value()) << unit.error().describe();
        for (const Diagnostic& diagnostic : unit->model().diagnostics)
            if (diagnostic.origin == DiagnosticOrigin::Compiler ||
                diagnostic.origin == DiagnosticOrigin::Device)
                ADD_FAILURE() << diagnostic.file << ':' << diagnostic.span.begin << ": "
                              << diagnostic.message;
    }
};

TEST_P(ParsedCorpus, ParsesWithoutDiagnosticsByThePreludeAlone) {
    const Result<Toolchain> toolchain =
        findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
    ASSERT_TRUE(toolchain.has_value()) << toolchain.error().describe();
    expectClean(*toolchain);
}

TEST_P(ParsedCorpus, ParsesWithoutDiagnosticsByTheToolkitsHeaders) {
    const Result<Toolchain> toolchain =
        findToolchain({.cudaPath = std::nullopt, .preferToolkit = true});
    ASSERT_TRUE(toolchain.has_value()) << toolchain.error().describe();
    if (!toolchain->toolkit)
        GTEST_SKIP() << "no CUDA toolkit on this machine: only the prelude was tried";
    expectClean(*toolchain);
}

INSTANTIATE_TEST_SUITE_P(Files, ParsedCorpus, ::testing::ValuesIn(corpus()), [](const auto& file) {
    return file.param.parent_path().stem().string() + '_' + file.param.stem().string();
});

TEST(CorpusSize, HoldsEnoughToMeanSomething) {
    EXPECT_GE(corpus().size(), 45u);
}

} // namespace
} // namespace kernelskill::analysis
