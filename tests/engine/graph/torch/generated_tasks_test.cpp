/// Kernels of generated models against LibTorch: on the emulator, with extents that it can run.
#include "analysis/source/try.h"
#include "engine/graph/check/model_check.h"
#include "engine/graph/lowering/channels_last_nodes.h"
#include "engine/graph/model/model_plan.h"
#include "engine/graph/read_program.h"
#include "engine/graph/reference/smaller_program.h"
#include "engine/graph/separate_bias.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/archives.h"
#include "tests/engine/graph/torch/torch_model_reference.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <variant>

namespace kernelskill::engine::graph::testing {
namespace {

class GeneratedTasks : public kernelskill::testing::EmulatorFixture {
protected:
    ModelCheck checked(const std::filesystem::path& archive, const ModelOptions& options = {}) {
        const auto graph = readProgram(archive);
        return graph ? checked(*graph, options) : failed(graph.error());
    }

    ModelCheck checked(const Program& program, const ModelOptions& options) {
        return checkModel(program, referenceFor(program, 3), {.model = options, .seed = 3},
                          *executor_, bench_.toolchain, {});
    }

    static ModelCheck failed(const Error& error) {
        ModelCheck check;
        check.why = error.describe();
        return check;
    }
};

std::set<std::filesystem::path> ownArchives() {
    return archivesIn(std::string(paths::sourceFolder) +
                      "/tests/engine/graph/programs/kernelbench");
}

/// A program, and the options that leave its convolutions to LibTorch in channels-last order.
struct ChannelsLastProgram {
    Program program;
    ModelOptions options;
};

Result<ChannelsLastProgram> channelsLastProgram(const std::filesystem::path& archive) {
    KERNELSKILL_TRY(Program program, readProgram(archive));
    program = withSeparateBias(std::move(program));
    ModelOptions options;
    options.libraryNodes = options.channelsLastNodes = imageConvolutions(program);
    return ChannelsLastProgram{std::move(program), std::move(options)};
}

class GeneratedTask : public GeneratedTasks,
                      public ::testing::WithParamInterface<std::filesystem::path> {};

TEST_P(GeneratedTask, AgreesWithLibTorchOnTheEmulator) {
    const ModelCheck check = checked(GetParam());
    EXPECT_EQ(nameOf(check.outcome), "agrees") << check.why;
}

TEST_F(GeneratedTasks, AgreeWithConvolutionsInChannelsLastOrder) {
    std::size_t count = 0;
    for (const std::filesystem::path& archive : ownArchives()) {
        const auto reordered = channelsLastProgram(archive);
        ASSERT_TRUE(reordered) << reordered.error().describe();
        if (reordered->options.channelsLastNodes.empty())
            continue;
        const ModelCheck check = checked(reordered->program, reordered->options);
        EXPECT_EQ(nameOf(check.outcome), "agrees") << archive << ": " << check.why;
        ++count;
    }
    EXPECT_GE(count, 10U);
}

/// The options of models that keep what windows share in registers.
ModelOptions sharingWindows() {
    ModelOptions options;
    options.kernels.tile = 1;
    return options;
}

/// Whether such a model has such windows with the smallest extents that it is checked with.
bool sharesWindows(const Program& program) {
    constexpr std::int64_t smallest = 12;
    const auto small = withRaisedTypes(withExtents(program, smallest));
    const auto plan =
        small ? plannedModel(*small, "model", sharingWindows()) : std::unexpected(small.error());
    return plan && std::ranges::any_of(plan->steps, [](const ModelStep& step) {
               const auto* kernel = std::get_if<Kernel>(&step.work);
               return kernel != nullptr && kernel->schedule.contains("whose windows overlap");
           });
}

TEST_F(GeneratedTasks, AgreeWithWindowsThatShareElements) {
    std::size_t count = 0;
    for (const std::filesystem::path& archive : ownArchives()) {
        const auto program = readProgram(archive);
        ASSERT_TRUE(program) << program.error().describe();
        if (!sharesWindows(*program))
            continue;
        const ModelCheck check = checked(*program, sharingWindows());
        EXPECT_EQ(nameOf(check.outcome), "agrees") << archive << ": " << check.why;
        ++count;
    }
    EXPECT_GE(count, 2U);
}

INSTANTIATE_TEST_SUITE_P(OfKernelBench, GeneratedTask, ::testing::ValuesIn(ownArchives()),
                         [](const auto& info) {
                             std::string name = info.param.stem().string();
                             for (char& c : name)
                                 c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                             return name;
                         });

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks, KERNELSKILL_TASK a part of the names
/// of those to take. With KERNELSKILL_CHANNELS_LAST, those with convolutions of images are taken,
/// which LibTorch computes in that order; with KERNELSKILL_WINDOWS, those with windows that share
/// elements, which are kept in registers.
TEST_F(GeneratedTasks, OfAFolderAgreeWithLibTorchOnTheEmulator) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr)
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder";
    const char* only = std::getenv("KERNELSKILL_TASK");
    std::size_t agree = 0;
    std::size_t tasks = 0;
    for (const std::filesystem::path& archive : archivesIn(folder)) {
        if (only != nullptr && !archive.string().contains(only))
            continue;
        ModelCheck check;
        if (std::getenv("KERNELSKILL_CHANNELS_LAST") != nullptr) {
            const auto reordered = channelsLastProgram(archive);
            if (reordered && reordered->options.channelsLastNodes.empty())
                continue;
            check = reordered ? checked(reordered->program, reordered->options)
                              : failed(reordered.error());
        } else if (std::getenv("KERNELSKILL_WINDOWS") != nullptr) {
            const auto program = readProgram(archive);
            if (program && !sharesWindows(*program))
                continue;
            check = checked(archive, sharingWindows());
        } else {
            check = checked(archive);
        }
        ++tasks;
        agree += check.outcome == ModelCheck::Outcome::Agrees ? 1 : 0;
        EXPECT_NE(check.outcome, ModelCheck::Outcome::Differs)
            << archive.filename().string() << ": " << check.why;
        std::cout << archive.filename().string() << ": " << nameOf(check.outcome) << " "
                  << check.why << std::endl;
    }
    std::cout << agree << " of " << tasks << " agree\n";
    const bool isPart = only != nullptr || std::getenv("KERNELSKILL_CHANNELS_LAST") != nullptr ||
                        std::getenv("KERNELSKILL_WINDOWS") != nullptr;
    EXPECT_GE(agree, isPart ? 1U : 80U);
}

} // namespace
} // namespace kernelskill::engine::graph::testing
