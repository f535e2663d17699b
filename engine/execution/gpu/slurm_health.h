/// Whether the Slurm of the settings is there, without asking it for a job.
#pragma once

#include "engine/execution/gpu/slurm_job.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine::gpu {

struct SlurmHealth {
    std::string version;    ///< "slurm-wlm 22.05.8"
    std::string partitions; ///< With their nodes and GPUs: "debug* (2 nodes, gpu:h100:4)", ...
};

/// Of the partition that `job` names, or of all. Missing, with the remedy, without srun, without an
/// answer of the controller within some seconds, and without the partition.
[[nodiscard]] Result<SlurmHealth> slurmHealth(const SlurmJob& job, std::stop_token stop);

} // namespace kernelskill::engine::gpu
