/// Contractions of many styles, tiled: the edited program must do what the original does, to the
/// last bit, on fresh inputs of several sizes, on the emulator.
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/review/reviewer.h"
#include "tests/image_cache.h"
#include "tests/paths.h"
#include "tests/samples.h"
#include "tests/skills/skill_check.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr std::string_view path = "tests/precision/contractions.cu";

class TiledContractions : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        auto toolchain = analysis::findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
        ASSERT_TRUE(toolchain) << toolchain.error().describe();
        toolchain_ = std::move(*toolchain);
        EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = imageCache();
        auto executor = makeEmulatorExecutor(options, toolchain_);
        ASSERT_TRUE(executor) << executor.error().describe();
        executor_ = std::move(*executor);
        const std::filesystem::path file = std::filesystem::path(paths::sourceFolder) / path;
        program_.file = file.string();
        program_.text = skills::readSource(std::string(path));
        program_.command = analysis::CompileCommands().inferred(file, paths::sourceFolder);
        auto model = analysis::analyzeFile(file, program_.text, program_.command, toolchain_);
        ASSERT_TRUE(model) << model.error().describe();
        program_.model = std::make_shared<analysis::FileModel>(std::move(*model));
    }

    [[nodiscard]] const analysis::KernelModel& kernel() const {
        return *std::ranges::find(program_.model->kernels, GetParam(),
                                  &analysis::KernelModel::name);
    }

    /// Each kernel is tiled in one of the four ways, unless all are asked for.
    [[nodiscard]] static bool isTaken(std::size_t way) {
        return (GetParam().size() + way) % casesApart(4) == 0;
    }

    void expectAccepted(const skills::SkillContext& context, const skills::Offer& offer) const {
        SCOPED_TRACE(offer.title);
        const auto edits = skills::skillNamed(offer.skillId).apply(context, offer);
        ASSERT_TRUE(edits) << edits.error().describe();
        const Reviewer reviewer(executor_.get(), toolchain_);
        const auto verdict = reviewer.review({program_, kernel()}, *edits, skills::Numerics::Exact,
                                             {}, {}, {.seed = testSeed()});
        ASSERT_TRUE(verdict) << verdict.error().describe();
        EXPECT_NE(verdict->status, VerdictStatus::Incorrect) << verdict->summary;
        EXPECT_NE(verdict->status, VerdictStatus::Invalid) << verdict->summary;
    }

    analysis::Toolchain toolchain_;
    std::unique_ptr<Executor> executor_;
    ProgramSource program_;
};

TEST_P(TiledContractions, KeepEveryBit) {
    const analysis::Features features = analysis::extractFeatures(kernel());
    const skills::SkillContext context(*program_.model, kernel(), features, kernel().span);
    const skills::Skill& tiling = skills::skillNamed("register-tiling");
    const auto offer = tiling.prepare(context);
    ASSERT_TRUE(offer) << offer.error().reason;
    expectAccepted(context, *offer);
    const auto others = tiling.alternatives(context);
    if (!others.empty() && isTaken(0))
        expectAccepted(context, others[GetParam().size() % others.size()]);
    const auto staging = skills::skillNamed("shared-memory-tiling").prepare(context);
    if (staging && isTaken(1))
        expectAccepted(context, *staging);
    if (!staging)
        EXPECT_TRUE(staging.error().gate == "flat-blocks" || staging.error().gate == "no-reuse")
            << staging.error().reason;
}

INSTANTIATE_TEST_SUITE_P(Kernels, TiledContractions,
                         testing::ValuesIn(sampleOf(skills::kernelNamesIn(path), 2)),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace kernelskill::engine
