/// Runs a .cu text on the emulator, as for a user's file.
#pragma once

#include "analysis/command/compile_command.h"
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/inputs/launch_inference.h"
#include "tests/image_cache.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

class ExecutorFixture : public testing::Test {
protected:
    void SetUp() override {
        auto toolchain = analysis::findToolchain({.cudaPath = {}, .ignoreToolkit = true});
        ASSERT_TRUE(toolchain) << toolchain.error().describe();
        toolchain_ = std::move(*toolchain);
        EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = imageCache();
        auto executor = makeEmulatorExecutor(std::move(options), toolchain_);
        ASSERT_TRUE(executor) << executor.error().describe();
        executor_ = std::move(*executor);
    }

    ProgramSource open(const std::filesystem::path& path) {
        std::ifstream stream(path, std::ios::binary);
        std::ostringstream contents;
        contents << stream.rdbuf();
        return parse(path, contents.str());
    }

    ProgramSource parse(const std::filesystem::path& path, std::string text) {
        ProgramSource program;
        program.file = path.string();
        program.text = std::move(text);
        program.command = analysis::CompileCommands().inferred(path, path.parent_path());
        auto model = analysis::analyzeFile(program.file, program.text, program.command, toolchain_);
        EXPECT_TRUE(model) << model.error().describe();
        if (model)
            program.model = std::make_shared<analysis::FileModel>(std::move(*model));
        return program;
    }

    /// Builds and runs with the first launch that inference proposes.
    Result<RunResult> run(KernelRef kernel,
                          std::chrono::milliseconds time = std::chrono::seconds{60}) {
        auto launches = inferLaunches(kernel.file(), kernel.kernel);
        if (!launches)
            return std::unexpected(launches.error());
        Job job;
        job.launch = launches->front();
        job.wantProfile = true;
        job.wantOutputs = true;
        job.maxBlocks = 32;
        job.limits.time = time;
        auto image = executor_->build(kernel, job.launch, {});
        if (!image)
            return std::unexpected(image.error());
        return executor_->run(**image, job, {});
    }

    Result<RunResult> runFirstKernel(const ProgramSource& program,
                                     std::chrono::milliseconds time = std::chrono::seconds{60}) {
        return run({program, program.model->kernels.front()}, time);
    }

    static const LineMetrics* line(const Profile& profile, std::uint32_t number,
                                   const std::string& metric) {
        for (const LineMetrics& line : profile.lines) {
            if (line.line == number && line.metrics.contains(metric))
                return &line;
        }
        return nullptr;
    }

    template <typename T>
    static std::vector<T> valuesOf(const RunResult& result, const std::string& name) {
        const auto found = std::ranges::find(result.outputs, name, &BufferContents::name);
        if (found == result.outputs.end())
            return {};
        std::vector<T> values(found->bytes.size() / sizeof(T));
        std::memcpy(values.data(), found->bytes.data(), values.size() * sizeof(T));
        return values;
    }

    static std::uint32_t lineOf(const ProgramSource& program, const std::string& code) {
        const std::size_t at = program.text.find(code);
        EXPECT_NE(at, std::string::npos) << code;
        return static_cast<std::uint32_t>(
            std::count(program.text.begin(), program.text.begin() + static_cast<long>(at), '\n'));
    }

    static std::filesystem::path source(const std::string& name) {
        return std::filesystem::path(paths::sourceFolder) / name;
    }

    analysis::Toolchain toolchain_;
    std::unique_ptr<Executor> executor_;
};

} // namespace kernelskill::engine
