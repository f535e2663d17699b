/// Kernels of generated models against LibTorch: on the emulator, with extents that it can run.
#include "engine/graph/check/model_check.h"
#include "engine/graph/read_program.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/archives.h"
#include "tests/engine/graph/torch/torch_model_reference.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>

namespace kernelskill::engine::graph::testing {
namespace {

class GeneratedTasks : public kernelskill::testing::EmulatorFixture {
protected:
    ModelCheck checked(const std::filesystem::path& archive) {
        const auto graph = readProgram(archive);
        if (!graph) {
            ModelCheck check;
            check.why = graph.error().describe();
            return check;
        }
        return checkModel(*graph, referenceFor(*graph, 3), {.model = {}, .seed = 3}, *executor_,
                          bench_.toolchain, {});
    }
};

class GeneratedTask : public GeneratedTasks,
                      public ::testing::WithParamInterface<std::filesystem::path> {};

TEST_P(GeneratedTask, AgreesWithLibTorchOnTheEmulator) {
    const ModelCheck check = checked(GetParam());
    EXPECT_EQ(nameOf(check.outcome), "agrees") << check.why;
}

INSTANTIATE_TEST_SUITE_P(
    OfKernelBench, GeneratedTask,
    ::testing::ValuesIn(archivesIn(std::string(paths::sourceFolder) +
                                   "/tests/engine/graph/programs/kernelbench")),
    [](const auto& info) {
        std::string name = info.param.stem().string();
        for (char& c : name)
            c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
        return name;
    });

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks, KERNELSKILL_TASK a part of the names
/// of those to take.
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
        const ModelCheck check = checked(archive);
        ++tasks;
        agree += check.outcome == ModelCheck::Outcome::Agrees ? 1 : 0;
        EXPECT_NE(check.outcome, ModelCheck::Outcome::Differs)
            << archive.filename().string() << ": " << check.why;
        std::cout << archive.filename().string() << ": " << nameOf(check.outcome) << " "
                  << check.why << std::endl;
    }
    std::cout << agree << " of " << tasks << " agree\n";
    EXPECT_GE(agree, only == nullptr ? 80U : 1U);
}

} // namespace
} // namespace kernelskill::engine::graph::testing
