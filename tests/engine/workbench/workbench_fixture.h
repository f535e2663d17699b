/// A workbench on the real emulator, with the real skills and a memory of its own.
#pragma once

#include "engine/workbench/workbench.h"
#include "tests/engine/breakage.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kernelskill::testing {

class WorkbenchFixture : public ::testing::Test {
protected:
    WorkbenchFixture() {
        workbench_ = std::make_unique<engine::Workbench>(options(), bench_.toolchain);
    }
    [[nodiscard]] engine::WorkbenchOptions options() const {
        engine::WorkbenchOptions options;
        options.executable = paths::testWorker;
        options.dataDirectory = bench_.toolchain.preludeInclude.parent_path();
        options.cacheDirectory = folder_.path() / "cache";
        options.userDataDirectory = folder_.path() / "data";
        return options;
    }
    [[nodiscard]] engine::ProgramSource program(const std::string& text) const {
        auto model = std::make_shared<const analysis::FileModel>(bench_.parsed(text));
        return {model->file, text, {}, bench_.command, model};
    }

    RepairBench bench_;
    TemporaryFolder folder_;
    std::unique_ptr<engine::Workbench> workbench_;
};

} // namespace kernelskill::testing
