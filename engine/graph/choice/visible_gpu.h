/// The GPU that CUDA programs of this machine run on, by nvidia-smi: asking it takes a tenth of a
/// second, and starts no CUDA.
#pragma once

#include "analysis/source/error.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace kernelskill::engine::graph {

struct VisibleGpu {
    std::string name;         ///< "NVIDIA H200"
    std::string architecture; ///< "sm_90"
    std::string driver;       ///< "580.65.06"
};

/// The first one of $CUDA_VISIBLE_DEVICES, else the first of the machine. Missing without one, or
/// if `nvidiaSmi` cannot be started.
[[nodiscard]] Result<VisibleGpu> visibleGpu(const std::filesystem::path& nvidiaSmi,
                                            std::stop_token stop);

} // namespace kernelskill::engine::graph
