/// Every skill on every kernel of the corpus, the examples and the skills' own examples where it is
/// offered: the edited program must do what the original does, on fresh inputs of several sizes, on
/// the emulator.
#include "engine/review/reviewer.h"
#include "skills/catalogue.h"
#include "tests/paths.h"
#include "tests/samples.h"
#include "tests/skills/emulator_review.h"
#include "tests/skills/skill_check.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

namespace kernelskill::engine {
namespace {

struct Program {
    std::string path;
    friend std::ostream& operator<<(std::ostream& out, const Program& program) {
        return out << program.path;
    }
};

std::vector<Program> programs() {
    const std::filesystem::path root = paths::sourceFolder;
    std::vector<Program> found;
    for (const auto* folder : {"tests/corpus", "examples"})
        for (const auto& entry : std::filesystem::directory_iterator(root / folder))
            if (entry.path().extension() == ".cu")
                found.push_back({std::filesystem::relative(entry.path(), root).string()});
    for (const auto& skill : skills::makeCatalogue())
        found.push_back({"skills/" + std::string(skill->id()) + "/before.cu"});
    std::ranges::sort(found, {}, &Program::path);
    return found;
}

class VerifiedRewrites : public testing::TestWithParam<Program> {};

/// Facts that the GPU's compiler might give about the kernel, each a reason for some skill to be
/// offered. Whether an edit is correct does not depend on it.
std::vector<skills::CompiledKernel> troubles(const analysis::KernelModel& kernel) {
    std::uint32_t threads = 256;
    for (const analysis::LaunchSite& launch : kernel.launches)
        if (launch.constantBlock.size() == 3 && std::ranges::min(launch.constantBlock) > 0)
            threads = static_cast<std::uint32_t>(launch.constantBlock[0] * launch.constantBlock[1] *
                                                 launch.constantBlock[2]);
    std::uint64_t shared = 0;
    for (const analysis::SharedArray& array : kernel.sharedArrays)
        shared += array.bytes;
    std::vector<skills::CompiledKernel> found{skills::compiledAs(64, threads, shared, 4096)};
    // A register too many for one block more.
    for (std::uint32_t registers = 33; registers < 128; ++registers) {
        const auto compiled = skills::compiledAs(registers, threads, shared);
        if (compiled.occupancy && compiled.occupancy->percent <= 50 &&
            compiled.occupancy->fewerRegisters && compiled.occupancy->fewerRegisters->fewer == 1) {
            found.push_back(compiled);
            break;
        }
    }
    // So many that one block fits, or few of small ones.
    found.push_back(skills::compiledAs(std::min(255U, 65'536 / threads), threads, shared));
    for (const std::uint64_t dynamic : {20'000, 40'000, 80'000})
        found.push_back(skills::compiledAs(32, threads, shared + dynamic));
    return found;
}

/// The reviews of all of them take half an hour of one core.
constexpr std::size_t rewritesApart = 16;

/// The offer in the first of `contexts` in which the skill is offered.
std::optional<skills::Offer> offerIn(const std::vector<skills::SkillContext>& contexts,
                                     const skills::Skill& skill) {
    for (const skills::SkillContext& context : contexts)
        if (auto offer = skill.prepare(context))
            return std::move(*offer);
    return std::nullopt;
}

TEST_P(VerifiedRewrites, DoWhatTheOriginalDoes) {
    const std::filesystem::path path = std::filesystem::path(paths::sourceFolder) / GetParam().path;
    const skills::EmulatorReview emulated;
    ASSERT_TRUE(emulated.executor);
    const ProgramSource program = emulated.program(path, skills::readSource(GetParam().path));
    ASSERT_TRUE(program.model);
    const Reviewer reviewer = emulated.reviewer();
    skills::SkillMetadata reassociating;
    reassociating.numerics = skills::Numerics::Reassociates;
    std::size_t made = std::string_view(GetParam().path).size(); // Other skills in each program.
    for (const analysis::KernelModel& kernel : program.model->kernels) {
        const analysis::Features features = analysis::extractFeatures(kernel);
        const std::vector<skills::CompiledKernel> compiled = troubles(kernel);
        std::vector<skills::SkillContext> contexts{{*program.model, kernel, features, kernel.span}};
        for (const skills::CompiledKernel& trouble : compiled)
            contexts.emplace_back(*program.model, kernel, features, kernel.span, &trouble);
        for (const auto& skill : skills::makeCatalogue()) {
            const auto offer = offerIn(contexts, *skill);
            if (!offer || made++ % casesApart(rewritesApart) != 0)
                continue;
            SCOPED_TRACE(kernel.name + ": " + offer->title);
            const auto edits = skill->apply(contexts.front(), *offer);
            ASSERT_TRUE(edits) << edits.error().describe();
            const auto verdict = reviewer.review({program, kernel}, *edits,
                                                 skills::accuracyOf(*offer, reassociating), {}, {},
                                                 {.seed = testSeed()});
            ASSERT_TRUE(verdict) << verdict.error().describe();
            // A guess takes the blame for an edit that fails on it, which would be wrong all the
            // same.
            const bool isRefused = verdict->summary.contains("with a guessed launch") &&
                                   !verdict->checks.back().name.starts_with("the original");
            if (!verdict->isAboutEdit && !isRefused)
                continue; // the emulator does not run the original
            EXPECT_NE(verdict->status, VerdictStatus::Incorrect) << skills::describe(*verdict);
            EXPECT_NE(verdict->status, VerdictStatus::Invalid) << skills::describe(*verdict);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, VerifiedRewrites, testing::ValuesIn(programs()), [](const auto& info) {
        std::string name = info.param.path;
        std::ranges::replace_if(
            name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
        return name;
    });

} // namespace
} // namespace kernelskill::engine
