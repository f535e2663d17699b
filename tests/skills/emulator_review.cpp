#include "tests/skills/emulator_review.h"

#include "engine/execution/emulator/emulator_executor.h"
#include "tests/image_cache.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <utility>

namespace kernelskill::skills {

EmulatorReview::EmulatorReview() {
    auto found = analysis::findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
    if (!found) {
        ADD_FAILURE() << found.error().describe();
        return;
    }
    toolchain = std::move(*found);
    engine::EmulatorOptions options;
    options.workerExecutable = paths::testWorker;
    options.cacheDirectory = imageCache();
    auto made = engine::makeEmulatorExecutor(options, toolchain);
    if (made)
        executor = std::move(*made);
    else
        ADD_FAILURE() << made.error().describe();
}

engine::ProgramSource EmulatorReview::program(const std::filesystem::path& file,
                                              std::string text) const {
    engine::ProgramSource program;
    program.file = file.string();
    program.text = std::move(text);
    program.command = analysis::CompileCommands().inferred(file, paths::sourceFolder);
    auto model = analysis::analyzeFile(file, program.text, program.command, toolchain);
    if (model)
        program.model = std::make_shared<analysis::FileModel>(std::move(*model));
    else
        ADD_FAILURE() << model.error().describe();
    return program;
}

std::string describe(const engine::Verdict& verdict) {
    std::string text = verdict.summary;
    for (const engine::Check& check : verdict.checks)
        if (!check.passed)
            text += "\n  " + check.name + ": " + check.detail;
    return text;
}

} // namespace kernelskill::skills
