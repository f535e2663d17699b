// The model names the parts of each file that the preprocessor leaves out.
#include "analysis/parse/translation_unit.h"
#include "tests/analysis/support/analyze.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kernelskill::analysis {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> skippedIn(const FileModel& model, const std::string& path,
                                   const std::string& text) {
    std::vector<std::string> parts;
    const auto found = model.skipped.find(path);
    for (const Span& span : found != model.skipped.end() ? found->second : std::vector<Span>())
        parts.push_back(text.substr(span.begin, span.size()));
    return parts;
}

std::string written(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
    return path.string();
}

TEST(SkippedText, IsTheBranchThatIsNotTaken) {
    const std::string text = "#ifdef BIG\nint a;\n#else\nint b;\n#endif\n"
                             "#if 1\nint c;\n#elif 1\nint d;\n#endif\n"
                             "__global__ void k(float* x) { x[0] = 1; }\n";
    const FileModel model = testing::analyze(text);
    EXPECT_THAT(skippedIn(model, model.file, text),
                ElementsAre("#ifdef BIG\nint a;\n#else", "#elif 1\nint d;\n#endif"));
}

TEST(SkippedText, IsKnownOfHeadersOnEachParse) {
    const TemporaryFolder folder;
    const std::string header =
        "#ifndef SIZES_H\n#define SIZES_H\n"
        "#ifdef SMALL\n#define N 64\n#else\n#define N 4096\n#endif\n#endif\n";
    const std::string again = "#ifndef N\n#define N 128\n#endif\nint behind;\n";
    const auto path = written(folder.path() / "sizes.h", header);
    const auto other = written(folder.path() / "again.h", again);
    const std::string text = "#include \"sizes.h\"\n#include \"again.h\"\n#include \"sizes.h\"\n"
                             "__global__ void k(float* x) { x[0] = N; }\n";
    auto unit =
        TranslationUnit::parse(folder.path() / "k.cu", text, {}, testing::preludeToolchain());
    ASSERT_TRUE(unit);
    for (int parse = 0; parse < 3; ++parse) {
        const FileModel model = unit->model();
        EXPECT_THAT(skippedIn(model, path, header),
                    ElementsAre("#ifdef SMALL\n#define N 64\n#else"))
            << parse;
        EXPECT_THAT(skippedIn(model, other, again), ElementsAre("#ifndef N\n#define N 128\n#endif"))
            << parse;
        EXPECT_THAT(skippedIn(model, model.file, text), IsEmpty());
        ASSERT_TRUE(unit->reparse(text + "int more" + std::to_string(parse) + ";\n", {}));
    }
}

/// The header has text behind its guard, so that clang reads it again.
TEST(SkippedText, IsNotAllOfAHeaderThatIsReadAgain) {
    const TemporaryFolder folder;
    const std::string header = "#ifndef SIZES_H\n#define SIZES_H\n"
                               "#ifdef SMALL\n#define N 64\n#endif\n#endif\n;\n";
    const auto path = written(folder.path() / "sizes.h", header);
    const std::string text = "#include \"sizes.h\"\n#include \"sizes.h\"\n"
                             "__global__ void k(float* x) { x[0] = 1; }\n";
    const auto model = analyzeFile(folder.path() / "k.cu", text, {}, testing::preludeToolchain());
    ASSERT_TRUE(model);
    EXPECT_THAT(skippedIn(*model, path, header), ElementsAre("#ifdef SMALL\n#define N 64\n#endif"));
}

} // namespace
} // namespace kernelskill::analysis
