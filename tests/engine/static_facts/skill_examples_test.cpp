/// The table that tests of skills go by where there is no toolkit, against the compiler itself.
#include "tests/engine/static_facts/facts_fixture.h"
#include "tests/skills/compiled_examples.h"

namespace kernelskill::engine {
namespace {

class SkillExamples : public FactsFixture {
protected:
    void check(const std::string& file, const skills::CompiledKernel& expected) {
        const auto path = std::filesystem::path(KERNELSKILL_SOURCE_DIR) / "skills" / file;
        const ProgramSource program = parse(path, contentsOf(path));
        ASSERT_EQ(program.model->kernels.size(), 1U);
        const auto facts = staticFacts(program, program.model->kernels.front(), {},
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

} // namespace
} // namespace kernelskill::engine
