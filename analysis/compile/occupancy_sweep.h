/// Theoretical occupancy as one of a block's resources varies and the others stay.
#pragma once

#include "analysis/compile/occupancy.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

enum class BlockResource : std::uint8_t { Threads, Registers, SharedBytes };
/// "threads a block", "registers a thread", "shared bytes a block"
[[nodiscard]] std::string_view spelling(BlockResource resource);

struct OccupancyPoint {
    std::uint64_t value = 0; ///< Of the resource.
    std::uint32_t blocks = 0;
    double percent = 0;     ///< 0 if such a block cannot be launched.
    bool isCurrent = false; ///< The block as it is.
};

/// Occupancy over the values of `resource`, ascending: each power of two of a warp's threads and
/// each multiple of 128 up to the largest block; registers and shared memory where occupancy
/// changes, by the largest value that still has it. The block's own value is always among them.
/// Registers need a known count; without one there are no points for them.
[[nodiscard]] std::vector<OccupancyPoint> occupancySweep(const BlockResources& block,
                                                         const MultiprocessorLimits& limits,
                                                         BlockResource resource);

} // namespace kernelskill::analysis
