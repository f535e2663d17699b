/// Theoretical occupancy: how many blocks a multiprocessor can hold at once, what limits that, and
/// how little would have to change for it to hold more.
#pragma once

#include "analysis/compile/compute_capability.h"
#include "analysis/source/error.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// What one block asks for.
struct BlockResources {
    std::uint32_t threads = 0;
    std::optional<std::uint32_t> registersPerThread; ///< nullopt: not known, and not counted.
    std::uint64_t sharedBytes = 0; ///< Static and dynamic, without what the driver reserves.
};

enum class OccupancyLimiter : std::uint8_t { Registers, SharedMemory, Warps, Blocks };
/// "registers", "shared-memory", "warps", "blocks"
[[nodiscard]] std::string_view spelling(OccupancyLimiter limiter);

/// The smallest saving of one resource after which more blocks fit.
struct OccupancyStep {
    std::uint64_t fewer = 0; ///< Registers a thread, or shared bytes a block.
    std::uint32_t blocks = 0;
    double percent = 0;
};

struct Occupancy {
    std::uint32_t blocks = 0; ///< Resident on a multiprocessor.
    std::uint32_t warps = 0;
    double percent = 0;                     ///< Of the warps that the multiprocessor can hold.
    std::vector<OccupancyLimiter> limiters; ///< Each that alone would allow no more blocks.
    /// nullopt: fewer registers (shared bytes) alone let no further block in.
    std::optional<OccupancyStep> fewerRegisters;
    std::optional<OccupancyStep> fewerSharedBytes;

    [[nodiscard]] bool isLimitedBy(OccupancyLimiter limiter) const;
};

/// InvalidInput when such a block cannot be launched at all, with the limit that it breaks.
[[nodiscard]] Result<Occupancy> occupancyOf(const BlockResources& block,
                                            const MultiprocessorLimits& limits);

} // namespace kernelskill::analysis
