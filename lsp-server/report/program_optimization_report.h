/// Prints the optimisation of a whole program as text and as JSON.
#pragma once

#include "engine/whole_program/host_edit.h"
#include "engine/whole_program/optimized_kernel.h"
#include "engine/whole_program/program_pair.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The buffers on the GPU that are compared at the program's end.
struct BufferCount {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
};

struct ProgramOptimizationReport {
    std::vector<std::string> command;
    engine::ProgramCheck check = engine::ProgramCheck::Status;
    std::string outputNote; ///< Says which part of the output is not compared.
    BufferCount buffers;
    std::string bufferNote;                       ///< Says which buffers are not compared.
    std::vector<engine::OptimizedKernel> kernels; ///< The hot ones, the longest first.
    std::vector<engine::HostEdit> hostEdits;
    engine::ProgramTurns turns;
    std::string diff; ///< All edits that are kept; paths are from the workspace's root.
    bool isWritten = false;
    /// Set if it was stopped: `diff` has what was found by then, which the whole program does not
    /// answer for.
    bool isStopped = false;

    [[nodiscard]] bool isImproved() const { return !diff.empty() && !isStopped; }
};

/// {program, check, output_note, buffers: {compared, bytes, note}, kernels: [{name, symbol, file,
/// line, launches, microseconds, median_microseconds, share, saving, seconds, executor, held,
/// not_held, base, attempts, tried, skills, stop, search_speedup, model_gain, outcome, why,
/// speedup}], host_edits: [{skill, title, kernel, outcome, why, speedup}], program_time, gpu_time,
/// kernel_time: {speedup, seconds:
/// [{before, after}]}, diff, written, stopped}. Speedups are null where nothing was measured.
[[nodiscard]] nlohmann::json programOptimizationJson(const ProgramOptimizationReport& report);

/// A line for each kernel, then the whole; without the diff.
[[nodiscard]] std::vector<std::string>
programOptimizationLines(const ProgramOptimizationReport& report);

/// Returns one sentence with the report's times and checks, or why nothing is better.
[[nodiscard]] std::string summaryOf(const ProgramOptimizationReport& report);

} // namespace kernelskill::lsp
