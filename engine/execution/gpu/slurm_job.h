/// Runners on the nodes of a Slurm cluster: what to ask srun for, and what its words mean.
#pragma once

#include "analysis/source/error.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::gpu {

/// What each runner asks of the cluster. Empty: the cluster's default.
struct SlurmJob {
    std::filesystem::path srun; ///< Empty: searched on PATH.
    std::string partition;
    std::string gres;      ///< "gpu:1", "gpu:h200:1"
    std::string timeLimit; ///< As sbatch writes times: "30", "1:00:00".
    std::string account;
    std::vector<std::string> arguments; ///< More of srun's options.
    std::filesystem::path runner;       ///< On the node; empty: where it is on this machine.
    int slots = 1;                      ///< Runners side by side, each a job of its own.
    std::chrono::seconds idleTime{60};  ///< One that nobody asked for so long is given back.
};

/// srun and its options, to be followed by the runner and its own. Missing without srun.
[[nodiscard]] Result<std::vector<std::string>> srunWords(const SlurmJob& job);

/// "NAME=value" for srun, which hands them on to the runner: what a job needs to find the cluster
/// and its libraries. Neither the GPUs of this machine nor options for srun are among them.
[[nodiscard]] std::vector<std::string> slurmEnvironment();

/// What a line of srun says about waiting, in a user's words; nullopt when it is about something
/// else.
[[nodiscard]] std::optional<std::string> queueState(std::string_view line);

/// Why srun has ended, from what it has said. Failed, or Missing for what the cluster lacks.
[[nodiscard]] Error slurmError(const SlurmJob& job, std::string_view said);

/// Whether the job is gone because the cluster ended it, so that it is not the kernel's doing.
[[nodiscard]] bool wasEndedBySlurm(std::string_view said);

} // namespace kernelskill::engine::gpu
