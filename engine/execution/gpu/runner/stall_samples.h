/// Finds where a kernel's warps wait, and why, by CUPTI's sampling of program counters.
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
    std::uint64_t total = 0;     ///< All samples of the kernel.
    std::uint64_t elsewhere = 0; ///< Samples of `total` whose instruction has no line.
    std::uint64_t dropped = 0;   ///< Samples that the hardware dropped.
};

/// Runs `subject` until there are enough samples to resolve shares of a percent, or for at most 0.4
/// seconds. `launch` is the same subject, prepared; its buffers are used and it is invalid
/// afterwards, because CUPTI knows only modules that are loaded while it samples.
[[nodiscard]] Result<StallSamples> sampleStalls(const Cupti& cupti, Device& device,
                                                const Subject& subject, std::uint64_t seed,
                                                const PreparedLaunch& launch, bool& isFatal);

} // namespace kernelskill::engine::gpu
