/// Programs parsed with the built-in declarations, and an emulator to run them on.
#pragma once

#include "engine/execution/emulator/emulator_executor.h"
#include "tests/engine/breakage.h"
#include "tests/image_cache.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace kernelskill::testing {

class EmulatorFixture : public ::testing::Test {
protected:
    EmulatorFixture() {
        engine::EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = imageCache();
        auto executor = engine::makeEmulatorExecutor(options, bench_.toolchain);
        EXPECT_TRUE(executor) << executor.error().describe();
        if (executor)
            executor_ = std::move(*executor);
    }

    [[nodiscard]] engine::ProgramSource program(const std::string& text) const {
        engine::ProgramSource source;
        auto model = bench_.parsed(text);
        source.file = model.file;
        source.text = text;
        source.command = bench_.command;
        source.model = std::make_shared<const analysis::FileModel>(std::move(model));
        return source;
    }

    RepairBench bench_;
    std::unique_ptr<engine::Executor> executor_;
};

} // namespace kernelskill::testing
