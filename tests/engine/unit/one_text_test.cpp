// Kernels in headers, as parts of the text that includes them.
#include "analysis/parse/translation_unit.h"
#include "engine/unit/one_text.h"
#include "tests/engine/breakage.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::RepairBench;
using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* header = "#pragma once\n"
                               "#include \"scale.h\"\n"
                               "__global__ void k(Item* items, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n)\n"
                               "        items[i].value *= scale;\n"
                               "}"; // Without a line end.
constexpr const char* wrapper = "#include \"parts/kernel.cu\" // the kernel\n"
                                "inline int blocks(int n) { return (n + 255) / 256; }\n";
constexpr const char* program =
    "struct Item { float value; };\n"
    "#include \"wrapper.h\"\n"
    "void run(Item* items, int n) { k<<<blocks(n), 256>>>(items, n); }\n";

class OneTextTest : public ::testing::Test {
protected:
    OneTextTest() {
        std::filesystem::create_directories(folder_.path() / "parts");
        write("parts/kernel.cu", header);
        write("parts/scale.h", "constexpr float scale = 2.0f;\n");
        write("wrapper.h", wrapper);
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_.path() / name).string();
    }
    [[nodiscard]] ProgramSource parsed(const std::string& text) const {
        auto model = analysis::analyzeFile(path("main.cu"), text, bench_.command, bench_.toolchain);
        EXPECT_TRUE(model);
        return {path("main.cu"),
                text,
                {},
                bench_.command,
                std::make_shared<const analysis::FileModel>(std::move(*model))};
    }

    RepairBench bench_;
    TemporaryFolder folder_;
};

TEST_F(OneTextTest, HoldsTheKernelWithTheSameNameAndLaunch) {
    const ProgramSource source = parsed(program);
    ASSERT_EQ(source.model->kernels.at(0).file, path("parts/kernel.cu"));
    const auto whole = OneText::make(source, path("parts/kernel.cu"), bench_.toolchain);
    ASSERT_TRUE(whole) << whole.error().describe();
    EXPECT_THAT(whole->program().text, Not(HasSubstr("#include \"wrapper.h\"")));
    EXPECT_THAT(whole->program().text, Not(HasSubstr("pragma once")));
    const auto& kernel = whole->program().model->kernels.at(0);
    EXPECT_EQ(kernel.name, "k");
    EXPECT_EQ(kernel.file, path("main.cu"));
    EXPECT_EQ(kernel.normalisedHash, source.model->kernels.at(0).normalisedHash);
    EXPECT_EQ(kernel.launches.size(), 1u);
}

TEST_F(OneTextTest, EditsGoToTheFilesThatHoldTheText) {
    const auto whole = OneText::make(parsed(program), path("parts/kernel.cu"), bench_.toolchain);
    ASSERT_TRUE(whole) << whole.error().describe();
    const std::string& text = whole->program().text;
    analysis::EditSet edits;
    for (const char* changed : {"items[i].value", "(n + 255)", "256>>>"}) {
        const auto begin = static_cast<std::uint32_t>(text.find(changed));
        edits[path("main.cu")].push_back(
            {{begin, begin + static_cast<std::uint32_t>(std::string_view(changed).size())}, "X"});
    }
    const auto mapped = whole->inFiles(edits);
    ASSERT_TRUE(mapped) << mapped.error().describe();
    const auto after = [&](const char* file, const char* before) {
        return analysis::applyEdits(before, mapped->at(path(file))).value();
    };
    EXPECT_THAT(after("parts/kernel.cu", header), HasSubstr("        X *= scale;\n}"));
    EXPECT_THAT(after("wrapper.h", wrapper), HasSubstr("return X / 256"));
    EXPECT_THAT(after("main.cu", program), HasSubstr("blocks(n), X(items"));
}

TEST_F(OneTextTest, WhatIsIncludedGoesToTheHeaderOfTheKernel) {
    const auto whole = OneText::make(parsed(program), path("parts/kernel.cu"), bench_.toolchain);
    ASSERT_TRUE(whole) << whole.error().describe();
    const auto scale = static_cast<std::uint32_t>(whole->program().text.find("#include"));
    const analysis::TextEdit atHead{{0, 0}, "#include <cooperative_groups.h>\n"};
    // Trimmed to the characters that differ.
    const analysis::TextEdit trimmed{{scale + 1, scale + 1}, "include <cooperative_groups.h>\n#"};
    for (const analysis::TextEdit& edit : {atHead, trimmed}) {
        const auto mapped = whole->inFiles({{path("main.cu"), {edit}}});
        ASSERT_TRUE(mapped) << mapped.error().describe();
        ASSERT_EQ(mapped->size(), 1u);
        EXPECT_THAT(analysis::applyEdits(header, mapped->at(path("parts/kernel.cu"))).value(),
                    HasSubstr("#include \"scale.h\"\n#include <cooperative_groups.h>\n__global__"));
    }
}

TEST_F(OneTextTest, OtherLinesStayInTheirFile) {
    const auto whole = OneText::make(parsed(program), path("parts/kernel.cu"), bench_.toolchain);
    ASSERT_TRUE(whole) << whole.error().describe();
    for (const char* line : {"// A comment.\n", "#define BLOCK 64\n", "#include <a.h>\nint a;\n"}) {
        const auto mapped = whole->inFiles({{path("main.cu"), {{{0, 0}, line}}}});
        ASSERT_TRUE(mapped) << mapped.error().describe();
        EXPECT_TRUE(mapped->contains(path("main.cu"))) << line;
    }
}

TEST_F(OneTextTest, AnEditOfAnIncludeThatWasReplacedIsNone) {
    const auto whole = OneText::make(parsed(program), path("parts/kernel.cu"), bench_.toolchain);
    ASSERT_TRUE(whole) << whole.error().describe();
    const auto end = static_cast<std::uint32_t>(whole->program().text.size());
    EXPECT_FALSE(whole->inFiles({{path("main.cu"), {{{0, end}, ""}}}}));
}

TEST_F(OneTextTest, AHeaderThatIsNotIncludedIsNoPart) {
    const auto missing = OneText::make(parsed(program), path("parts/none.cu"), bench_.toolchain);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().describe(), HasSubstr("no #include of it was found"));
}

} // namespace
} // namespace kernelskill::engine
