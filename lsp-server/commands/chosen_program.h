/// The program that a command runs: the words behind `--`, or one of the workspace's programs.
#pragma once

#include "engine/program/workload.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/current_programs.h"

#include <stop_token>
#include <string>

namespace kernelskill::lsp {

struct ChosenProgram {
    engine::Workload workload; ///< Its folder is in the place's root, with links followed.
    CurrentPlace place;
    std::filesystem::path folder; ///< The workload's folder, from the place's root.
};

/// `name` empty: the words behind `--`, run in the current folder. InvalidInput if both or none are
/// given, or the folder is outside of the workspace; Missing if the folder belongs to another user.
[[nodiscard]] Result<ChosenProgram> chosenProgram(const std::string& name,
                                                  const Invocation& invocation);

/// Builds the program if it has a build command. Commands and messages go to standard error. Errors
/// as of buildWorkload().
[[nodiscard]] Result<void> buildInTerminal(const engine::Workload& workload,
                                           const std::stop_token& stop);

} // namespace kernelskill::lsp
