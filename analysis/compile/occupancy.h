/// Computes theoretical occupancy: how many blocks a multiprocessor holds at once, what limits
/// that, and the smallest change after which it holds more.
#pragma once

#include "analysis/compile/compute_capability.h"
#include "analysis/source/error.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The resources of one block.
struct BlockResources {
    std::uint32_t threads = 0;
    /// nullopt if unknown; then registers do not count.
    std::optional<std::uint32_t> registersPerThread;
    std::uint64_t sharedBytes = 0; ///< Static and dynamic, without the driver's part.
};

enum class OccupancyLimiter : std::uint8_t { Registers, SharedMemory, Warps, Blocks };
/// "registers", "shared-memory", "warps", "blocks"
[[nodiscard]] std::string_view spelling(OccupancyLimiter limiter);

/// The smallest saving of one resource that allows more blocks.
struct OccupancyStep {
    std::uint64_t fewer = 0; ///< Registers per thread, or shared bytes per block.
    std::uint32_t blocks = 0;
    double percent = 0;
    bool operator==(const OccupancyStep&) const = default;
};

struct Occupancy {
    std::uint32_t blocks = 0; ///< Blocks that reside on a multiprocessor.
    std::uint32_t warps = 0;
    double percent = 0;                     ///< The percentage of the maximum number of warps.
    std::vector<OccupancyLimiter> limiters; ///< Each of these alone would allow no more blocks.
    /// nullopt if fewer registers (or shared bytes) alone allow no further block.
    std::optional<OccupancyStep> fewerRegisters;
    std::optional<OccupancyStep> fewerSharedBytes;

    [[nodiscard]] bool isLimitedBy(OccupancyLimiter limiter) const;
    bool operator==(const Occupancy&) const = default;
};

/// InvalidInput, with the exceeded limit, if such a block cannot be launched at all.
[[nodiscard]] Result<Occupancy> occupancyOf(const BlockResources& block,
                                            const MultiprocessorLimits& limits);

} // namespace kernelskill::analysis
