/// Starts a `kernelskill-runner`, here or by Slurm on a node of a cluster.
#pragma once

#include "engine/execution/gpu/slurm_job.h"
#include "engine/process/framed_child.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

struct RunnerCommand {
    std::filesystem::path executable;        ///< kernelskill-runner
    std::filesystem::path cuptiLibrary = {}; ///< If empty, the loader searches.
    /// Words before the executable, such as "env" and variables; empty: none.
    std::vector<std::string> prefix = {};
    std::optional<SlurmJob> slurm =
        std::nullopt; ///< On the nodes of a cluster; nullopt: on this machine.
};

/// Starts a runner for the GPU of that number. Missing, with a remedy, if it or srun cannot be
/// started.
[[nodiscard]] Result<std::unique_ptr<FramedChild>> startRunner(const RunnerCommand& command,
                                                               int device);

} // namespace kernelskill::engine::gpu
