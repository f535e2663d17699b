/// A program of the user that runs kernels: how it is built, run and checked.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Commands are words: a program, searched on PATH unless it has a slash, and its arguments. A line
/// that needs a shell is the words `/bin/sh`, `-c` and the line.
struct Workload {
    std::string name;                 ///< Unique among the workloads of a workspace.
    std::vector<std::string> command; ///< Not empty.
    std::filesystem::path folder;     ///< Absolute; all commands run there.
    std::vector<std::pair<std::string, std::string>> environment; ///< Added to the user's own.
    std::vector<std::string> build;                               ///< Empty: nothing to build.
    /// Reads the program's standard output as its standard input; exit status 0: the results are
    /// right. Empty: none.
    std::vector<std::string> check;
    /// POSIX extended regular expression that a line of the output has to match; empty: none.
    std::string pattern;
    std::string
        origin; ///< The place that it was read from: "settings", "Makefile:12", "build (CMake)".
    bool operator==(const Workload&) const = default;
};

/// Workloads, and a sentence for each entry that was seen but not understood.
struct FoundWorkloads {
    std::vector<Workload> workloads;
    std::vector<std::string> notes;
};

} // namespace kernelskill::engine
