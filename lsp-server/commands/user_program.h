/// The user's own program, run in the user's own terminal.
#pragma once

#include "analysis/source/error.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

struct UserProgram {
    std::vector<std::string> words; ///< Its name, searched in PATH, and its arguments.
    std::vector<std::pair<std::string, std::string>> environment; ///< Added to ours.
    std::filesystem::path folder; ///< The folder that it runs in; empty: ours.
    /// Its standard output goes to standard error, so that ours holds nothing else.
    bool isOutputApart = false;
};

/// Runs it to its end and returns its exit status, or 128 + signal. An interrupt from the keyboard
/// ends the program, not kernelskill, and SIGTERM and SIGHUP are passed on to it. Missing when it
/// cannot be started.
[[nodiscard]] Result<int> runUserProgram(const UserProgram& program);

} // namespace kernelskill::lsp
