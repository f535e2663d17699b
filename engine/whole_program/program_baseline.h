/// The baseline of a program's kernels that a build server keeps and compares later runs with.
#pragma once

#include "engine/regression/baseline.h"
#include "engine/whole_program/run_comparison.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// The command that ran. Runs of two commands are not compared.
struct BaselineProgram {
    std::vector<std::string> command;
    std::string folder; ///< The folder that it ran in, from the baseline's, with `/`.
    std::vector<std::pair<std::string, std::string>>
        environment; ///< Added to the user's own; sorted by names.
    bool operator==(const BaselineProgram&) const = default;
};

/// The GPU that a program ran on. What is not known is empty or 0.
struct TimedGpu {
    std::string name;              ///< "NVIDIA H200"
    std::string driver;            ///< "580.65.06"
    std::uint32_t smMegahertz = 0; ///< The clock of its multiprocessors right after the runs.
    bool operator==(const TimedGpu&) const = default;
};

struct TimedRuns {
    TimedGpu gpu;
    std::vector<LaunchTimes> runs; ///< At least one.
    bool operator==(const TimedRuns&) const = default;
};

/// Times, counts of the emulator, or both: machines with and without a GPU may share a baseline.
struct ProgramBaseline {
    BaselineProgram program;
    std::optional<TimedRuns> times;
    std::optional<Baseline> counts;
};

/// JSON in UTF-8, with times in whole nanoseconds, and a line for each kernel.
[[nodiscard]] std::string programBaselineText(const ProgramBaseline& baseline);
/// Errors as of readBaseline().
[[nodiscard]] Result<ProgramBaseline> readProgramBaseline(const std::filesystem::path& file);
/// The same of a text; `file` is for messages.
[[nodiscard]] Result<ProgramBaseline> parseProgramBaseline(std::string_view text,
                                                           const std::filesystem::path& file);

/// Says how the programs differ: "the baseline is of `./sums 64`; this is `./sums 128`"; empty if
/// they do not.
[[nodiscard]] std::string differenceBetween(const BaselineProgram& before,
                                            const BaselineProgram& now);

struct TimedComparison {
    /// Why the times say nothing of the kernels, in one sentence; empty if they do.
    std::string obstacle;
    std::vector<KernelTimeChange> changes; ///< As of compareRuns().
    /// Sentences that name other causes of a change: another driver, another clock.
    std::vector<std::string> notes;
};

/// Times are those of kernels only if both GPUs are known and the same.
[[nodiscard]] TimedComparison compareTimes(const TimedRuns& before, const TimedRuns& now);

} // namespace kernelskill::engine
