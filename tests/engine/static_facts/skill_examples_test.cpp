/// The examples of skills by the compiler itself: the table that tests go by where there is no
/// toolkit, and the host code of skills that edit it, compiled and linked.
#include "engine/process/child_process.h"
#include "skills/skill_document.h"
#include "tests/engine/static_facts/facts_fixture.h"
#include "tests/paths.h"
#include "tests/skills/compiled_examples.h"
#include "tests/skills/skill_check.h"
#include "tests/temporary_folder.h"

#include <fstream>

namespace kernelskill::engine {
namespace {

class SkillExamples : public FactsFixture {
protected:
    void check(const std::string& file, const skills::CompiledKernel& expected) {
        const auto path = std::filesystem::path(paths::sourceFolder) / "skills" / file;
        const ProgramSource program = parse(path, contentsOf(path));
        ASSERT_EQ(program.model->kernels.size(), 1U);
        const auto facts = staticFacts({program, program.model->kernels.front()}, {},
                                       expected.architecture, options_, {});
        ASSERT_TRUE(facts) << facts.error().describe();
        if (facts->compiler != "nvcc 13.0")
            GTEST_SKIP() << "the table is of nvcc 13.0, and here is " << facts->compiler;
        EXPECT_EQ(facts->registers, expected.registers);
        EXPECT_EQ(facts->spillStoreBytes, expected.spillStoreBytes);
        EXPECT_EQ(facts->spillLoadBytes, expected.spillLoadBytes);
        EXPECT_EQ(facts->staticSharedBytes, expected.staticSharedBytes);
    }
};

TEST_F(SkillExamples, AreCompiledAsTheTableSays) {
    for (const skills::CompiledExample& example : skills::compiledExamples()) {
        SCOPED_TRACE(example.skill);
        check(example.skill + "/before.cu", example.before);
        check(example.skill + "/after.cu", example.after);
    }
}

/// The messages of nvcc for a program: empty if it compiles without a warning and links.
std::string refusalOf(const std::filesystem::path& nvcc, const std::string& text) {
    const testing::TemporaryFolder folder;
    const auto program = folder.path() / "program.cu";
    std::ofstream(program) << text;
    ChildCommand command;
    command.program = nvcc;
    command.arguments = {"-std=c++17",    "-arch=sm_90", "-Werror",
                         "all-warnings",  "-o",          folder.path() / "program",
                         program.string()};
    command.time = std::chrono::minutes(3);
    const auto child = runChild(command, {});
    if (!child)
        return child.error().describe();
    return child->status == 0 ? "" : "nvcc: " + child->messages + child->output;
}

class LaunchSkillExamples : public ::testing::Test {
protected:
    void SetUp() override {
        const auto toolchain = analysis::findToolchain({});
        ASSERT_TRUE(toolchain) << toolchain.error().describe();
        if (toolchain->toolkit)
            nvcc_ = toolchain->toolkit->root / "bin" / "nvcc";
        if (!std::filesystem::exists(nvcc_))
            GTEST_SKIP() << "no nvcc here";
    }

    std::filesystem::path nvcc_;
};

TEST_F(LaunchSkillExamples, CompileAndLink) {
    const auto folder = std::filesystem::path(paths::sourceFolder) / "skills";
    int examples = 0;
    for (const skills::SkillMetadata& skill : skills::loadSkillDocuments(folder).skills) {
        if (skill.kind != skills::SkillKind::Launch)
            continue;
        for (const char* version : {"before.cu", "after.cu"}) {
            const std::string text = contentsOf(folder / skill.id / version);
            EXPECT_EQ(refusalOf(nvcc_, text + "int main() {}\n"), "") << skill.id << version;
            ++examples;
        }
    }
    EXPECT_GT(examples, 0);
}

TEST_F(LaunchSkillExamples, CompileAndLinkWithRoundsInStreams) {
    const std::string edited =
        skills::appliedText("stream-overlap", skills::readSource("tests/precision/copy_loops.cu"));
    EXPECT_NE(edited.find("streams[frame % 4]"), std::string::npos);
    EXPECT_EQ(refusalOf(nvcc_, edited), "");
}

TEST_F(LaunchSkillExamples, WouldBeRefusedWithAFault) {
    EXPECT_NE(refusalOf(nvcc_, "void run();\nint main() { run(); }\n"), "")
        << "linked without a definition";
    EXPECT_NE(refusalOf(nvcc_, "int main() { cudaStreamCreate(1); }\n"), "")
        << "compiled with a wrong argument";
}

} // namespace
} // namespace kernelskill::engine
