/// Tests that child processes never get the key of a language model.
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/execution/gpu/runner_pool.h"
#include "engine/process/child_process.h"
#include "engine/process/framed_child.h"
#include "tests/engine/breakage.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* variable = "ANTHROPIC_API_KEY";
constexpr const char* secret = "sk-test-0123456789abcdef";

class ModelKeyTest : public ::testing::Test {
protected:
    ModelKeyTest() { ::setenv(variable, secret, 1); }
    ~ModelKeyTest() override { ::unsetenv(variable); }

    /// A program that writes its environment to a file.
    [[nodiscard]] std::filesystem::path teller() const {
        const auto path = folder_.path() / "teller";
        std::ofstream(path) << "#!/bin/sh\nenv > " << told().string() << ".new && mv "
                            << told().string() << ".new " << told().string() << "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }
    [[nodiscard]] std::filesystem::path told() const { return folder_.path() / "told"; }
    /// The text that teller() has written; empty if it never ran.
    [[nodiscard]] std::string environment() const {
        for (int i = 0; i < 200 && !std::filesystem::exists(told()); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::ifstream stream(told());
        std::ostringstream text;
        text << stream.rdbuf();
        return std::move(text).str();
    }

    TemporaryFolder folder_;
};

TEST_F(ModelKeyTest, CompilersDoNotGetIt) {
    const auto child = runChild({teller(), {}, "", std::chrono::seconds(20)}, {});
    ASSERT_TRUE(child) << child.error().describe();
    EXPECT_THAT(environment(), HasSubstr("PATH="));
    EXPECT_THAT(environment(), Not(HasSubstr(secret)));
}

TEST_F(ModelKeyTest, TheGpuRunnerDoesNotGetIt) {
    gpu::RunnerCommand command;
    command.executable = teller();
    EXPECT_FALSE(gpu::RunnerPool::open(command, {})) << "the teller is no runner";
    EXPECT_THAT(environment(), HasSubstr("CUDA_CACHE_PATH="));
    EXPECT_THAT(environment(), Not(HasSubstr(secret)));
}

TEST_F(ModelKeyTest, TheEmulatorsWorkerDoesNotGetIt) {
    const kernelskill::testing::RepairBench bench;
    const std::string text = "__global__ void k(float* p) { p[threadIdx.x] = 1.0f; }\n"
                             "void run(float* p) { k<<<1, 32>>>(p); }\n";
    auto model = std::make_shared<const analysis::FileModel>(bench.parsed(text));
    const ProgramSource program{model->file, text, {}, bench.command, model};
    EmulatorOptions options;
    options.workerExecutable = teller();
    options.cacheDirectory = folder_.path() / "cache";
    const auto executor = makeEmulatorExecutor(options, bench.toolchain);
    ASSERT_TRUE(executor) << executor.error().describe();
    LaunchSpec launch;
    launch.kernel = "k";
    launch.block = {32, 1, 1};
    BufferSpec buffer;
    buffer.name = "p";
    buffer.elements = 32;
    launch.arguments = {buffer};
    const auto image = (*executor)->build({program, model->kernels.at(0)}, launch, {});
    ASSERT_TRUE(image) << image.error().describe();
    Job job;
    job.launch = launch;
    EXPECT_FALSE((*executor)->run(**image, job, {})) << "the teller is no worker";
    ASSERT_TRUE(std::filesystem::exists(told()) || !environment().empty());
    EXPECT_THAT(environment(), Not(HasSubstr(secret)));
}

} // namespace
} // namespace kernelskill::engine
