/// Where a kernel's warps wait and why, by CUPTI's sampling of program counters.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"
#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner/prepared_launch.h"
#include "engine/execution/gpu/runner_wire.h"

#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

struct StallSamples {
    std::vector<LineStalls> lines;
    std::uint64_t total = 0;   ///< Samples of the kernel.
    std::uint64_t dropped = 0; ///< By the hardware.
};

/// Runs `launch` until there are enough samples to tell shares of a percent, or a second has
/// passed. `cubin` is the code that it runs, with line tables.
[[nodiscard]] Result<StallSamples> sampleStalls(const Cupti& cupti, const Device& device,
                                                const PreparedLaunch& launch,
                                                const std::string& cubin, bool& isFatal);

} // namespace kernelskill::engine::gpu
