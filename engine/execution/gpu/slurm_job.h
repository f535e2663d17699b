/// Starts runners on the nodes of a Slurm cluster: makes the arguments of srun and reads its
/// messages.
#pragma once

#include "analysis/source/error.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::gpu {

/// The resources that each runner requests. If empty, the cluster's default.
struct SlurmJob {
    std::filesystem::path srun; ///< If empty, searched on PATH.
    std::string partition;
    std::string gres;      ///< "gpu:1", "gpu:h200:1"
    std::string timeLimit; ///< In sbatch's format: "30", "1:00:00".
    std::string account;
    std::vector<std::string> arguments; ///< Further options of srun.
    std::filesystem::path runner; ///< The path on the node; if empty, the same as on this machine.
    int slots = 1;                ///< Runners at the same time, each a job of its own.
    std::chrono::seconds idleTime{60}; ///< A runner that is idle for this time is given back.
};

/// srun and its options. The caller appends the runner and its arguments. Missing if there is no
/// srun.
[[nodiscard]] Result<std::vector<std::string>> srunWords(const SlurmJob& job);

/// "NAME=value" for srun, which passes them to the runner: the variables for finding the cluster
/// and its libraries. GPUs of this machine and options for srun are left out.
[[nodiscard]] std::vector<std::string> slurmEnvironment();

/// A text for users about what a line of srun says about waiting; nullopt if it says something
/// else.
[[nodiscard]] std::optional<std::string> queueState(std::string_view line);

/// Why srun ended, from its messages. Failed; or Missing if the cluster lacks something.
[[nodiscard]] Error slurmError(const SlurmJob& job, std::string_view said);

/// Whether the cluster ended the job, so that the kernel is not at fault.
[[nodiscard]] bool wasEndedBySlurm(std::string_view said);

} // namespace kernelskill::engine::gpu
