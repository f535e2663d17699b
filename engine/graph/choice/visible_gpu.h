/// The GPU that CUDA programs of this machine run on, by nvidia-smi: asking it takes a tenth of a
/// second, and starts no CUDA.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace kernelskill::engine::graph {

struct VisibleGpu {
    std::string name;              ///< "NVIDIA H200"
    std::string architecture;      ///< "sm_90"
    std::string driver;            ///< "580.65.06"
    std::uint32_t smMegahertz = 0; ///< The present clock of its multiprocessors; 0: not known.
};

/// The first one of `visible`, which programs have as $CUDA_VISIBLE_DEVICES; else the first of the
/// machine. Missing without one, or if `nvidiaSmi` cannot be started.
[[nodiscard]] Result<VisibleGpu> visibleGpu(const std::filesystem::path& nvidiaSmi,
                                            const std::optional<std::string>& visible,
                                            std::stop_token stop);

/// This process's $CUDA_VISIBLE_DEVICES; nullopt if it is not set.
[[nodiscard]] std::optional<std::string> visibleDevices();

} // namespace kernelskill::engine::graph
