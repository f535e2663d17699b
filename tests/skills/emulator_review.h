/// Reviews of edits on the emulator, without a CUDA toolkit.
#pragma once

#include "engine/execution/executor.h"
#include "engine/review/reviewer.h"

#include <filesystem>
#include <memory>
#include <string>

namespace kernelskill::skills {

/// A toolchain with an emulator. Fails the test, and has no executor, where there is none.
struct EmulatorReview {
    EmulatorReview();

    /// The text as the program `file`, parsed. Fails the test, and has no model, where the text
    /// cannot be parsed.
    [[nodiscard]] engine::ProgramSource program(const std::filesystem::path& file,
                                                std::string text) const;
    [[nodiscard]] engine::Reviewer reviewer() const { return {executor.get(), toolchain}; }

    analysis::Toolchain toolchain;
    std::unique_ptr<engine::Executor> executor;
};

/// The verdict's summary and the checks that did not pass.
[[nodiscard]] std::string describe(const engine::Verdict& verdict);

} // namespace kernelskill::skills
