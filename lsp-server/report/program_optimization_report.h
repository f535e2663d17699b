/// Prints the optimisation of a whole program as text and as JSON.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/whole_program/program_pair.h"
#include "engine/whole_program/program_profile.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

enum class KernelOutcome : std::uint8_t { Kept, TakenBack, NothingBetter, NotSearched };
/// "kept", "taken-back", "nothing-better", "not-searched"
[[nodiscard]] std::string_view spelling(KernelOutcome outcome);

struct OptimizedProgramKernel {
    engine::KernelShare share;
    double saving = 1;  ///< The part of its time that a perfect kernel would save, see
                        ///< engine::savingAtMost().
    double seconds = 0; ///< The time of its search.
    std::optional<engine::Optimization> found; ///< nullopt if no search came to an end.
    KernelOutcome outcome = KernelOutcome::NotSearched;
    std::string why; ///< Empty if it was kept.
    std::optional<double>
        speedup; ///< The speedup of its launches in the program; nullopt if it was not kept.
};

struct ProgramOptimizationReport {
    std::vector<std::string> command;
    engine::ProgramCheck check = engine::ProgramCheck::Status;
    std::string outputNote;                      ///< Says which part of the output is not compared.
    std::vector<OptimizedProgramKernel> kernels; ///< The hot ones, the longest first.
    engine::ProgramTurns turns;
    std::string diff; ///< All edits that are kept; paths are from the workspace's root.
    bool isWritten = false;

    [[nodiscard]] bool isImproved() const { return !diff.empty(); }
};

/// {program, check, output_note, kernels: [{name, symbol, file, line, share, saving, seconds,
/// executor, skills, stop, search_speedup, model_gain, outcome, why, speedup}], program_time,
/// gpu_time: {speedup, seconds: [{before, after}]}, diff, written}. Speedups are null where nothing
/// was measured.
[[nodiscard]] nlohmann::json programOptimizationJson(const ProgramOptimizationReport& report);

/// A line for each kernel, then the whole; without the diff.
[[nodiscard]] std::vector<std::string>
programOptimizationLines(const ProgramOptimizationReport& report);

} // namespace kernelskill::lsp
