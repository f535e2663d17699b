/// Edits of computations in styles that a skill once refused: the edited program must do what the
/// original does, to the last bit, on fresh inputs of several sizes, on the emulator.
#include "engine/review/reviewer.h"
#include "tests/paths.h"
#include "tests/skills/emulator_review.h"
#include "tests/skills/skill_check.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>

namespace kernelskill::engine {
namespace {

struct Styled {
    std::string kernel;
    std::string skill;
    std::string file;   ///< In tests/nest/kernels.
    std::string launch; ///< A host function that launches the kernel.
    friend std::ostream& operator<<(std::ostream& out, const Styled& styled) {
        return out << styled.kernel << ": " << styled.skill;
    }
};

class StyleEdits : public testing::TestWithParam<Styled> {};

TEST_P(StyleEdits, DoWhatTheOriginalDoes) {
    const Styled& styled = GetParam();
    const std::string path = "tests/nest/kernels/" + styled.file;
    const skills::EmulatorReview emulated;
    ASSERT_TRUE(emulated.executor);
    const ProgramSource program =
        emulated.program(std::filesystem::path(paths::sourceFolder) / path,
                         skills::readSource(path) + styled.launch);
    ASSERT_TRUE(program.model);
    const auto kernel =
        std::ranges::find(program.model->kernels, styled.kernel, &analysis::KernelModel::name);
    ASSERT_NE(kernel, program.model->kernels.end());
    const analysis::Features features = analysis::extractFeatures(*kernel);
    const skills::SkillContext context(*program.model, *kernel, features, kernel->span);
    const skills::Skill& skill = skills::skillNamed(styled.skill);
    const auto offer = skill.prepare(context);
    ASSERT_TRUE(offer) << offer.error().reason;
    const auto edits = skill.apply(context, *offer);
    ASSERT_TRUE(edits) << edits.error().describe();
    const auto verdict = emulated.reviewer().review(
        {program, *kernel}, *edits, skills::Numerics::Exact, {}, {}, {.seed = testSeed()});
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_TRUE(verdict->isAboutEdit) << skills::describe(*verdict);
    EXPECT_EQ(verdict->status, VerdictStatus::Unmeasured) << skills::describe(*verdict);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, StyleEdits,
    testing::Values(Styled{"saxpy_early", "vectorized-access", "saxpy.cu",
                           "void run(float a, const float* x, float* y, int n) {\n"
                           "    saxpy_early<<<(n + 255) / 256, 256>>>(a, x, y, n);\n}\n"},
                    Styled{"argmax_row", "row-per-warp", "argmax.cu",
                           "void run(const float* x, int* best, int m, int n) {\n"
                           "    argmax_row<<<(m + 127) / 128, 128>>>(x, best, m, n);\n}\n"},
                    Styled{"argmax_row", "row-per-block", "argmax.cu",
                           "void run(const float* x, int* best, int m, int n) {\n"
                           "    argmax_row<<<1, 128>>>(x, best, 128, n);\n}\n"}),
    [](const auto& info) {
        std::string name = info.param.kernel + "_" + info.param.skill;
        std::ranges::replace(name, '-', '_');
        return name;
    });

} // namespace
} // namespace kernelskill::engine
