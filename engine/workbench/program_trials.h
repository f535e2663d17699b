/// Tries changed kernels inside of a program of the user.
#pragma once

#include "engine/replay/held_program.h"
#include "engine/verification/kernel_changes.h"
#include "engine/verification/program_trial.h"
#include "engine/workbench/machines.h"

#include <chrono>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct ProgramTrialOptions {
    ReplayProgram program;
    std::string cupti;    ///< Path of CUPTI; if empty, the loader searches it.
    bool isExact = false; ///< Results have to agree byte for byte.
    /// For the rest of the program after the trial; then it is ended.
    std::chrono::milliseconds restLimit{60'000};
};

/// Holds the program at the first launch of the kernel, compiles both versions as for a run on the
/// GPU, tries them there, and lets the program go on. `before` has the kernel under its new name.
/// What cannot be done is an outcome that is not judged, with its reason. Cancelled on `stop`.
[[nodiscard]] Result<ProgramTrial>
tryInProgram(const Machines& machines, const ProgramSource& before, const ProgramSource& after,
             const KernelChange& change, const ProgramTrialOptions& options,
             const std::stop_token& stop);

} // namespace kernelskill::engine
