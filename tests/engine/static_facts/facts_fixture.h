/// Gets facts of kernels from a .cu file, as for a user's file.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/compile/nvrtc.h"
#include "analysis/parse/translation_unit.h"
#include "engine/inputs/launch_inference.h"
#include "engine/static_facts/static_facts.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace kernelskill::engine {

inline std::string contentsOf(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class FactsFixture : public testing::Test {
protected:
    void SetUp() override {
        // Parsed with the prelude, as files are; the toolkit's compiler is another matter.
        auto parsing = analysis::findToolchain({.cudaPath = {}, .ignoreToolkit = true});
        ASSERT_TRUE(parsing) << parsing.error().describe();
        toolchain_ = std::move(*parsing);
        const auto toolchain = analysis::findToolchain({});
        ASSERT_TRUE(toolchain) << toolchain.error().describe();
        options_.workerExecutable = paths::compileWorker;
        options_.preludeInclude = toolchain_.preludeInclude;
        options_.toolkit = toolchain->toolkit;
        options_.cacheDirectory = std::filesystem::path(paths::buildFolder) / "test-facts-cache";
        if (!options_.toolkit || !analysis::findNvrtc(*options_.toolkit))
            GTEST_SKIP() << "no CUDA toolkit with NVRTC here";
    }

    ProgramSource parse(const std::filesystem::path& path, std::string text) {
        return parse(path, std::move(text),
                     analysis::CompileCommands().inferred(path, path.parent_path()));
    }

    ProgramSource parse(const std::filesystem::path& path, std::string text,
                        analysis::CompileCommand command) {
        ProgramSource program;
        program.file = path.string();
        program.text = std::move(text);
        program.command = std::move(command);
        auto model = analysis::analyzeFile(program.file, program.text, program.command, toolchain_);
        EXPECT_TRUE(model) << model.error().describe();
        if (model)
            program.model = std::make_shared<analysis::FileModel>(std::move(*model));
        return program;
    }

    Result<StaticFacts> factsOf(KernelRef kernel, const std::string& architecture = "sm_90") {
        std::vector<std::string> arguments;
        if (!kernel.kernel.templateParameters.empty()) {
            if (const auto launches = inferLaunches(kernel.file(), kernel.kernel))
                arguments = launches->front().templateArguments;
        }
        return staticFacts(kernel, arguments, architecture, options_, {});
    }

    /// The facts of the only kernel of a text.
    Result<StaticFacts> factsOf(const std::string& text,
                                const std::string& architecture = "sm_90") {
        const auto program = parse("/nowhere/kernel.cu", text);
        return factsOf({program, program.model->kernels.at(0)}, architecture);
    }

    analysis::Toolchain toolchain_;
    StaticFactsOptions options_;
};

} // namespace kernelskill::engine
