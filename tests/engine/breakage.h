/// Ways to break a file that compiles, and the means to see whether a repair puts it right.
#pragma once

#include "engine/repair/repairer.h"

#include <string>
#include <string_view>

namespace kernelskill::testing {

/// `text` with the `occurrence`-th (from 0) `from` replaced by `to`. The test fails when there is
/// none.
[[nodiscard]] std::string replaced(std::string_view text, std::string_view from,
                                   std::string_view to, int occurrence = 0);

/// A file under the project's source folder.
[[nodiscard]] std::string sourceFile(std::string_view path);

/// The toolchain of the repairer in these tests: the prelude, no toolkit.
struct RepairBench {
    analysis::Toolchain toolchain;
    analysis::CompileCommand command;

    RepairBench();
    [[nodiscard]] analysis::FileModel parsed(const std::string& text) const;
    [[nodiscard]] engine::Repair repaired(const std::string& text) const;
    [[nodiscard]] std::vector<engine::CompileFix> fixes(const std::string& text) const;
};

} // namespace kernelskill::testing
