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
    std::uint64_t total = 0;     ///< Samples of the kernel.
    std::uint64_t elsewhere = 0; ///< Of `total`, those of instructions that have no line.
    std::uint64_t dropped = 0;   ///< By the hardware.
};

/// Runs `subject` until there are enough samples to tell shares of a percent, or 0.4 seconds have
/// passed. `launch` is the same one, prepared: its buffers are used, and it is of no more use, for
/// CUPTI knows instructions of those modules only that are loaded while it samples.
[[nodiscard]] Result<StallSamples> sampleStalls(const Cupti& cupti, Device& device,
                                                const Subject& subject, std::uint64_t seed,
                                                const PreparedLaunch& launch, bool& isFatal);

} // namespace kernelskill::engine::gpu
