/// Hardware counters of one kernel, by CUPTI's range profiler.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"
#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner/helper_launch.h"
#include "engine/execution/gpu/runner/prepared_launch.h"
#include "engine/execution/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

struct RangeCounters {
    Metrics metrics;
    std::uint32_t passes = 0;
    std::vector<std::string> unknown; ///< Metrics that this chip does not have.
};

/// Why counters cannot be read here; a value where they can.
[[nodiscard]] Result<void> checkProfiler(const Cupti& cupti, const Device& device);

/// Runs `launch` once a pass, each on restored buffers and a swept cache, as ncu does.
[[nodiscard]] Result<RangeCounters>
countRange(const Cupti& cupti, const Device& device, const PreparedLaunch& launch,
           const CacheSweep& sweep, const std::vector<std::string>& metrics, bool& isFatal);

} // namespace kernelskill::engine::gpu
