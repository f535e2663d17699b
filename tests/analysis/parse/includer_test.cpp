// Files that are read as a part of the source that includes them.
#include "analysis/command/toolchain.h"
#include "analysis/parse/preamble_end.h"
#include "analysis/parse/translation_unit.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace kernelskill::analysis {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string fragment = "__global__ void scale(Item* items) {\n"
                             "    items[threadIdx.x].value *= FACTOR;\n"
                             "}\n";
const std::string mainText = "#include <cstdio>\n"
                             "#define FACTOR 2.0f\n"
                             "struct Item { float value; };\n"
                             "#include \"k.inc\"\n"
                             "__global__ void own(float* x) { x[0] = 1; }\n"
                             "void run(Item* items) { scale<<<4, 64>>>(items); }\n";

class IncluderParse : public ::testing::Test {
protected:
    IncluderParse() {
        ToolchainOptions options;
        options.ignoreToolkit = true;
        const auto toolchain = findToolchain(options);
        EXPECT_TRUE(toolchain);
        toolchain_ = *toolchain;
        write("main.cu", mainText);
        command_.includer = path("main.cu");
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_.path() / name).string();
    }
    [[nodiscard]] FileModel read(const std::string& text, const UnsavedFiles& unsaved = {}) const {
        auto model = analyzeFile(path("k.inc"), text, command_, toolchain_, unsaved);
        EXPECT_TRUE(model) << model.error().describe();
        return std::move(*model);
    }
    void alsoIncludedBy(const std::string& file, std::set<std::string, std::less<>> words) {
        command_.otherIncluders = std::make_shared<const std::vector<OtherIncluder>>(
            std::vector<OtherIncluder>{{path(file), std::move(words)}});
    }

    Toolchain toolchain_;
    CompileCommand command_;
    TemporaryFolder folder_;
};

TEST_F(IncluderParse, KnowsWhatStandsBeforeTheFileAndItsLaunches) {
    const FileModel model = read(fragment);
    EXPECT_THAT(model.diagnostics, IsEmpty());
    EXPECT_EQ(model.file, path("k.inc"));
    EXPECT_EQ(model.includer, path("main.cu"));
    EXPECT_EQ(model.source->text(), fragment);
    EXPECT_THAT(model.userFiles, ElementsAre(path("k.inc"), path("main.cu")));
    ASSERT_EQ(model.kernels.size(), 2u);
    const KernelModel& kernel = model.kernels.front();
    EXPECT_EQ(kernel.name, "scale");
    EXPECT_EQ(kernel.file, path("k.inc"));
    EXPECT_EQ(kernel.span.begin, 0u);
    ASSERT_EQ(kernel.launches.size(), 1u);
    const LaunchSite& launch = kernel.launches.front();
    EXPECT_FALSE(isInMainFile(model, launch));
    ASSERT_NE(sourceOf(model, launch), nullptr);
    EXPECT_EQ(sourceOf(model, launch)->slice(launch.span), "scale<<<4, 64>>>(items)");
}

TEST_F(IncluderParse, PlacesErrorsOfTheFileInItAndKeepsThoseOfTheIncluderApart) {
    write("main.cu", mainText + "void broken() { undeclaredHere(); }\n");
    const FileModel model = read(fragment + "__global__ void bad() { undeclaredThere(); }\n");
    ASSERT_EQ(model.diagnostics.size(), 1u);
    EXPECT_EQ(model.diagnostics.front().file, path("k.inc"));
    EXPECT_THAT(model.diagnostics.front().message, ::testing::HasSubstr("undeclaredThere"));
    ASSERT_EQ(model.errorsElsewhere.size(), 1u);
    EXPECT_THAT(model.errorsElsewhere.front(), ::testing::HasSubstr("undeclaredHere"));
}

TEST_F(IncluderParse, TheEditorsTextOfTheIncluderCounts) {
    const FileModel model = read(
        fragment, {{path("main.cu"), mainText + "void more(Item* i) { scale<<<1, 32>>>(i); }\n"}});
    EXPECT_EQ(model.kernels.front().launches.size(), 2u);
    EXPECT_TRUE(model.unsavedHeaders.contains(path("main.cu")));
}

TEST_F(IncluderParse, SeesEachEditOfTheFile) {
    write("k.inc", fragment);
    auto unit = TranslationUnit::parse(path("k.inc"), fragment, command_, toolchain_);
    ASSERT_TRUE(unit) << unit.error().describe();
    EXPECT_TRUE(unit->readsFileOnce());
    EXPECT_THAT(unit->diagnostics(), IsEmpty());
    ASSERT_TRUE(unit->reparse(fragment + "int oops = undeclared;\n"));
    EXPECT_EQ(unit->diagnostics().size(), 1u);
    ASSERT_TRUE(unit->reparse("// Longer.\n" + fragment));
    EXPECT_THAT(unit->diagnostics(), IsEmpty());
    EXPECT_EQ(unit->model().kernels.front().span.begin, 11u);
    EXPECT_EQ(unit->model().kernels.front().launches.size(), 1u);
}

TEST_F(IncluderParse, KnowsWhetherTheFileIsReadOnce) {
    write("main.cu", "struct Item { float value; };\n#define FACTOR 1\n");
    auto unit = TranslationUnit::parse(path("k.inc"), fragment, command_, toolchain_);
    ASSERT_TRUE(unit);
    EXPECT_FALSE(unit->readsFile());
    write("main.cu", "struct Item { float value; };\n#define FACTOR 1\n#include \"k.inc\"\n"
                     "#define scale scaleTwice\n#include \"k.inc\"\n");
    write("k.inc", fragment);
    ASSERT_TRUE(unit->reparse(fragment));
    EXPECT_TRUE(unit->readsFile());
    EXPECT_FALSE(unit->readsFileOnce());
}

TEST_F(IncluderParse, FailsWithoutTheIncluder) {
    auto unit = TranslationUnit::parse(path("k.inc"), fragment, command_, toolchain_);
    ASSERT_TRUE(unit);
    std::filesystem::remove(path("main.cu"));
    EXPECT_FALSE(unit->reparse(fragment));
    EXPECT_FALSE(analyzeFile(path("k.inc"), fragment, command_, toolchain_));
}

TEST_F(IncluderParse, KnowsNoLaunchesWhereOthersMayLaunchToo) {
    alsoIncludedBy("other.cu", {"scale"});
    const KernelModel named = read(fragment).kernels.front();
    EXPECT_THAT(named.launches, IsEmpty());
    EXPECT_THAT(named.alsoLaunchedIn, ElementsAre(path("other.cu")));
    alsoIncludedBy("other.cu", {"own", "run", "something"});
    const FileModel unnamed = read(fragment);
    EXPECT_EQ(unnamed.kernels.front().launches.size(), 1u) << "`run` is main.cu's alone";
    EXPECT_THAT(unnamed.kernels.front().alsoLaunchedIn, IsEmpty());
}

TEST_F(IncluderParse, CountsCallersOfAFunctionOfTheFileThatLaunches) {
    alsoIncludedBy("other.cu", {"launchScale"});
    const FileModel model =
        read(fragment + "inline void launchScale(Item* i) { scale<<<1, 32>>>(i); }\n");
    EXPECT_THAT(model.kernels.front().alsoLaunchedIn, ElementsAre(path("other.cu")));
}

TEST(PreambleEnd, KeepsOffsets) {
    const std::string text = "#include <cstdio>\n#include \"k.cuh\"\nint x;\n";
    const Include directive{"\"k.cuh\"", "", {18, 34}};
    const std::string ended = withPreambleEndBefore(directive, text);
    EXPECT_EQ(ended, "#include <cstdio>\n;\n#import\"k.cuh\"\nint x;\n");
    EXPECT_EQ(ended.size(), text.size());
    const std::string later = "int x;\n#include \"k.cuh\"\n";
    EXPECT_EQ(withPreambleEndBefore({"\"k.cuh\"", "", {7, 23}}, later), later);
    const std::string narrow = "#include\"k.cuh\"\n";
    EXPECT_EQ(withPreambleEndBefore({"\"k.cuh\"", "", {0, 15}}, narrow), narrow);
}

TEST(PreambleEnd, KnowsGuards) {
    EXPECT_TRUE(isGuarded("// Text\n#pragma once\nint x;\n"));
    EXPECT_TRUE(isGuarded("#ifndef K_CUH\n#define K_CUH\nint x;\n#endif\n"));
    EXPECT_FALSE(isGuarded("#include <cstdio>\n#ifndef K_CUH\nint x;\n#endif\n"));
    EXPECT_FALSE(isGuarded("int x;\n#pragma once\n"));
}

} // namespace
} // namespace kernelskill::analysis
