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

/// The occupancy at different values of `resource`, in rising order. Threads are 32, 64 and the
/// multiples of 128 up to the largest block. Registers and shared memory have one point for each
/// occupancy, at the largest value that reaches it. The block's own value is always among them.
/// The list is empty for registers if their number is not known.
[[nodiscard]] std::vector<OccupancyPoint> occupancySweep(const BlockResources& block,
                                                         const MultiprocessorLimits& limits,
                                                         BlockResource resource);

} // namespace kernelskill::analysis
