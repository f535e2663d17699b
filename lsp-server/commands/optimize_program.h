/// `kernelskill optimize` of a whole program.
#pragma once

#include "lsp-server/commands/command_line.h"
#include "lsp-server/program/program_search.h"

#include <cstdint>
#include <string>

namespace kernelskill::lsp {

struct ProgramOptimizationArguments {
    std::string program; ///< A program of the workspace; empty: the words behind `--`.
    std::string build;   ///< Replaces the program's own build command.
    std::string check;   ///< Replaces the program's own check command.
    std::uint64_t copyMebibytes = 1024;
    bool write = false;
    std::string executor = "auto"; ///< The value of `--on`.
    ProgramSearch search;
};

/// Copies the workspace, searches the program's hot kernels, builds, checks and times the program
/// with their edits, and prints what is kept. Returns the exit status. The workspace changes only
/// by --write.
[[nodiscard]] int optimizeProgram(const ProgramOptimizationArguments& arguments,
                                  const Invocation& invocation);

} // namespace kernelskill::lsp
