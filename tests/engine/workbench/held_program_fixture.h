/// A workbench and a program that can be held, on a stand-in of driver and CUPTI. The stand-in runs
/// functions of its own in the place of compiled kernels, and tells them apart by the variables of
/// their modules (tests/engine/replay/fake_gpu/program.cpp).
#pragma once

#include "engine/static_facts/nvcc.h"
#include "engine/workbench/program_pause.h"
#include "tests/engine/workbench/workbench_fixture.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace kernelskill::testing {

/// Skips its tests if there is no nvcc.
class HeldProgramFixture : public WorkbenchFixture {
protected:
    void SetUp() override {
        const auto found = analysis::findToolchain({});
        if (!found || !found->toolkit || !engine::findNvcc(*found->toolkit))
            GTEST_SKIP() << "no nvcc here";
        toolchain_ = bench_.toolchain;
        toolchain_.toolkit = found->toolkit;
        const std::filesystem::path capture = paths::captureLibrary;
        trial_.program.words = {std::string(paths::fakeGpuFolder) +
                                    "/kernelskill_replay_fake_program",
                                "launch", "launch"};
        trial_.program.library = capture.parent_path() / "libkernelskill-replay.so";
        trial_.program.environment = {{"LD_LIBRARY_PATH", paths::fakeGpuFolder}};
    }

    analysis::Toolchain toolchain_;
    engine::ProgramTrialOptions trial_;
};

} // namespace kernelskill::testing
