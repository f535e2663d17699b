/// Work on grids in many styles, a few rows a thread: the edited program must do what the original
/// does, to the last bit, on fresh inputs of several sizes, on the emulator.
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/review/reviewer.h"
#include "tests/image_cache.h"
#include "tests/paths.h"
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

constexpr std::string_view path = "tests/skills/thread-coarsening/grids.cu";

class CoarsenedGrids : public testing::TestWithParam<std::string> {};

TEST_P(CoarsenedGrids, KeepEveryBit) {
    const auto toolchain =
        analysis::findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
    ASSERT_TRUE(toolchain) << toolchain.error().describe();
    EmulatorOptions options;
    options.workerExecutable = paths::testWorker;
    options.cacheDirectory = imageCache();
    const auto executor = makeEmulatorExecutor(options, *toolchain);
    ASSERT_TRUE(executor) << executor.error().describe();
    const std::filesystem::path file = std::filesystem::path(paths::sourceFolder) / path;
    ProgramSource program;
    program.file = file.string();
    program.text = skills::readSource(std::string(path));
    program.command = analysis::CompileCommands().inferred(file, paths::sourceFolder);
    auto model = analysis::analyzeFile(file, program.text, program.command, *toolchain);
    ASSERT_TRUE(model) << model.error().describe();
    program.model = std::make_shared<analysis::FileModel>(std::move(*model));
    const analysis::KernelModel& kernel =
        *std::ranges::find(program.model->kernels, GetParam(), &analysis::KernelModel::name);
    const analysis::Features features = analysis::extractFeatures(kernel);
    const skills::SkillContext context(*program.model, kernel, features, kernel.span);
    const skills::Skill& coarsening = skills::skillNamed("thread-coarsening");
    const auto offer = coarsening.prepare(context);
    ASSERT_TRUE(offer) << offer.error().reason;
    const auto edits = coarsening.apply(context, *offer);
    ASSERT_TRUE(edits) << edits.error().describe();
    const Reviewer reviewer(executor->get(), *toolchain);
    const auto verdict = reviewer.review({program, kernel}, *edits, skills::Numerics::Exact, {}, {},
                                         {.seed = testSeed()});
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_NE(verdict->status, VerdictStatus::Incorrect) << verdict->summary;
    EXPECT_NE(verdict->status, VerdictStatus::Invalid) << verdict->summary;
}

INSTANTIATE_TEST_SUITE_P(Kernels, CoarsenedGrids, testing::ValuesIn(skills::kernelNamesIn(path)),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace kernelskill::engine
