#include "analysis/compile/occupancy.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace kernelskill::analysis {
namespace {

constexpr std::uint32_t noLimit = std::numeric_limits<std::uint32_t>::max();

template <typename Number>
Number roundUp(Number value, Number unit) {
    return (value + unit - 1) / unit * unit;
}

std::uint32_t warpsOf(std::uint32_t threads) {
    return (threads + MultiprocessorLimits::threadsPerWarp - 1) /
           MultiprocessorLimits::threadsPerWarp;
}

std::uint32_t registersOfWarp(std::uint32_t registersPerThread) {
    return roundUp(registersPerThread * MultiprocessorLimits::threadsPerWarp,
                   MultiprocessorLimits::registerAllocationUnit);
}

/// A warp resides in one partition and takes its registers from that partition.
std::uint32_t blocksByRegisters(const BlockResources& block) {
    if (block.registersPerThread.value_or(0) == 0)
        return noLimit;
    const auto inPartition = MultiprocessorLimits::registers / MultiprocessorLimits::partitions /
                             registersOfWarp(*block.registersPerThread);
    return inPartition * MultiprocessorLimits::partitions / warpsOf(block.threads);
}

std::uint64_t allocatedSharedBytes(std::uint64_t bytes, const MultiprocessorLimits& limits) {
    return roundUp<std::uint64_t>(bytes + limits.sharedBytesReservedPerBlock,
                                  limits.sharedAllocationUnit);
}

std::uint32_t blocksBySharedMemory(const BlockResources& block,
                                   const MultiprocessorLimits& limits) {
    const auto bytes = allocatedSharedBytes(block.sharedBytes, limits);
    return bytes == 0 ? noLimit : static_cast<std::uint32_t>(limits.sharedBytes / bytes);
}

struct BlockLimits {
    std::array<std::uint32_t, 4> blocks; ///< By OccupancyLimiter.
    [[nodiscard]] std::uint32_t least() const { return *std::ranges::min_element(blocks); }
};

BlockLimits blockLimits(const BlockResources& block, const MultiprocessorLimits& limits) {
    return {{blocksByRegisters(block), blocksBySharedMemory(block, limits),
             limits.warps / warpsOf(block.threads), limits.blocks}};
}

double percentOf(std::uint32_t blocks, const BlockResources& block,
                 const MultiprocessorLimits& limits) {
    return 100.0 * blocks * warpsOf(block.threads) / limits.warps;
}

Error unlaunchable(const std::string& what, const MultiprocessorLimits& limits,
                   std::string remedy) {
    return {ErrorKind::InvalidInput,
            "such a block cannot be launched on " + architectureName(limits.capability) + ": " +
                what,
            {},
            std::move(remedy)};
}

std::optional<Error> refusal(const BlockResources& block, const MultiprocessorLimits& limits) {
    using Limits = MultiprocessorLimits;
    if (block.threads == 0 || block.threads > Limits::threadsPerBlock)
        return unlaunchable(std::to_string(block.threads) + " threads, at most " +
                                std::to_string(Limits::threadsPerBlock) + " fit",
                            limits, "launch blocks of 1 to 1024 threads");
    if (block.sharedBytes > limits.sharedBytesPerBlock)
        return unlaunchable(std::to_string(block.sharedBytes) +
                                " bytes of shared memory, at most " +
                                std::to_string(limits.sharedBytesPerBlock) + " fit",
                            limits, "use less shared memory");
    const auto registers = block.registersPerThread.value_or(0);
    const auto ofBlock =
        registersOfWarp(registers) * roundUp(warpsOf(block.threads), Limits::partitions);
    if (registers > Limits::registersPerThread || ofBlock > Limits::registers)
        return unlaunchable(std::to_string(registers) + " registers for each of " +
                                std::to_string(block.threads) + " threads, at most " +
                                std::to_string(Limits::registers) + " fit",
                            limits, "launch smaller blocks, or add __launch_bounds__");
    return std::nullopt;
}

/// Ignores savings that change nothing, by going from one allocated amount to the next smaller one.
std::optional<OccupancyStep> registerStep(BlockResources block, const MultiprocessorLimits& limits,
                                          std::uint32_t blocksNow) {
    const auto now = block.registersPerThread.value_or(0);
    for (auto fewer = std::uint32_t{1}; fewer < now; ++fewer) {
        block.registersPerThread = now - fewer;
        const auto blocks = blockLimits(block, limits).least();
        if (blocks > blocksNow)
            return OccupancyStep{fewer, blocks, percentOf(blocks, block, limits)};
    }
    return std::nullopt;
}

std::optional<OccupancyStep> sharedStep(BlockResources block, const MultiprocessorLimits& limits,
                                        std::uint32_t blocksNow) {
    const auto now = block.sharedBytes;
    // The maximum for each block if there is one more, in whole allocation units.
    const auto each = limits.sharedBytes / (blocksNow + 1) / limits.sharedAllocationUnit *
                      limits.sharedAllocationUnit;
    if (each < limits.sharedBytesReservedPerBlock ||
        each - limits.sharedBytesReservedPerBlock >= now)
        return std::nullopt;
    block.sharedBytes = each - limits.sharedBytesReservedPerBlock;
    const auto blocks = blockLimits(block, limits).least();
    if (blocks <= blocksNow)
        return std::nullopt;
    return OccupancyStep{now - block.sharedBytes, blocks, percentOf(blocks, block, limits)};
}

} // namespace

std::string_view spelling(OccupancyLimiter limiter) {
    switch (limiter) {
    case OccupancyLimiter::Registers:
        return "registers";
    case OccupancyLimiter::SharedMemory:
        return "shared-memory";
    case OccupancyLimiter::Warps:
        return "warps";
    case OccupancyLimiter::Blocks:
        break;
    }
    return "blocks";
}

bool Occupancy::isLimitedBy(OccupancyLimiter limiter) const {
    return std::ranges::find(limiters, limiter) != limiters.end();
}

Result<Occupancy> occupancyOf(const BlockResources& block, const MultiprocessorLimits& limits) {
    if (auto refused = refusal(block, limits))
        return std::unexpected(std::move(*refused));
    const auto byResource = blockLimits(block, limits);
    Occupancy occupancy;
    occupancy.blocks = byResource.least();
    occupancy.warps = occupancy.blocks * warpsOf(block.threads);
    occupancy.percent = percentOf(occupancy.blocks, block, limits);
    for (const auto limiter : {OccupancyLimiter::Registers, OccupancyLimiter::SharedMemory,
                               OccupancyLimiter::Warps, OccupancyLimiter::Blocks}) {
        if (byResource.blocks[static_cast<std::size_t>(limiter)] == occupancy.blocks)
            occupancy.limiters.push_back(limiter);
    }
    occupancy.fewerRegisters = registerStep(block, limits, occupancy.blocks);
    occupancy.fewerSharedBytes = sharedStep(block, limits, occupancy.blocks);
    return occupancy;
}

} // namespace kernelskill::analysis
