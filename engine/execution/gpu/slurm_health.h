/// Checks that the Slurm cluster of the settings responds, without requesting a job.
#pragma once

#include "engine/execution/gpu/slurm_job.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine::gpu {

struct SlurmHealth {
    std::string version;    ///< "slurm-wlm 22.05.8"
    std::string partitions; ///< With their nodes and GPUs: "debug* (2 nodes, gpu:h100:4)", ...
};

/// The state of the partition in `job`, or of all. Missing, with a remedy, if there is no srun, if
/// the controller does not answer within seconds, or if there is no such partition.
[[nodiscard]] Result<SlurmHealth> slurmHealth(const SlurmJob& job, std::stop_token stop);

} // namespace kernelskill::engine::gpu
