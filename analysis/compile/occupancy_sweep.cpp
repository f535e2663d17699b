#include "analysis/compile/occupancy_sweep.h"

#include <algorithm>
#include <set>

namespace kernelskill::analysis {

namespace {

OccupancyPoint pointAt(const BlockResources& block, const MultiprocessorLimits& limits,
                       std::uint64_t value, std::uint64_t current) {
    OccupancyPoint point{value, 0, 0, value == current};
    if (const auto occupancy = occupancyOf(block, limits)) {
        point.blocks = occupancy->blocks;
        point.percent = occupancy->percent;
    }
    return point;
}

BlockResources with(BlockResources block, BlockResource resource, std::uint64_t value) {
    switch (resource) {
    case BlockResource::Threads:
        block.threads = static_cast<std::uint32_t>(value);
        break;
    case BlockResource::Registers:
        block.registersPerThread = static_cast<std::uint32_t>(value);
        break;
    case BlockResource::SharedBytes:
        block.sharedBytes = value;
        break;
    }
    return block;
}

std::set<std::uint64_t> candidates(const MultiprocessorLimits& limits, BlockResource resource) {
    std::set<std::uint64_t> values;
    switch (resource) {
    case BlockResource::Threads:
        for (std::uint64_t warps : {1, 2})
            values.insert(warps * MultiprocessorLimits::threadsPerWarp);
        for (std::uint64_t threads = 128; threads <= MultiprocessorLimits::threadsPerBlock;
             threads += 128)
            values.insert(threads);
        break;
    case BlockResource::Registers:
        for (std::uint64_t registers = 16; registers <= MultiprocessorLimits::registersPerThread;
             ++registers)
            values.insert(registers);
        break;
    case BlockResource::SharedBytes:
        for (std::uint64_t bytes = 0; bytes <= limits.sharedBytesPerBlock;
             bytes += std::max<std::uint32_t>(limits.sharedAllocationUnit, 1))
            values.insert(bytes);
        break;
    }
    return values;
}

} // namespace

std::string_view spelling(BlockResource resource) {
    switch (resource) {
    case BlockResource::Threads:
        return "threads a block";
    case BlockResource::Registers:
        return "registers a thread";
    case BlockResource::SharedBytes:
        break;
    }
    return "shared bytes a block";
}

std::vector<OccupancyPoint> occupancySweep(const BlockResources& block,
                                           const MultiprocessorLimits& limits,
                                           BlockResource resource) {
    if (resource == BlockResource::Registers && !block.registersPerThread)
        return {};
    const std::uint64_t current = resource == BlockResource::Threads     ? block.threads
                                  : resource == BlockResource::Registers ? *block.registersPerThread
                                                                         : block.sharedBytes;
    std::set<std::uint64_t> values = candidates(limits, resource);
    values.insert(current);
    std::vector<OccupancyPoint> points;
    for (const std::uint64_t value : values) {
        const OccupancyPoint point = pointAt(with(block, resource, value), limits, value, current);
        // Neighbouring values with the same occupancy become one point, the largest; the block's
        // own value stays a point of its own.
        const bool isSame = resource != BlockResource::Threads && !points.empty() &&
                            points.back().blocks == point.blocks && !points.back().isCurrent;
        if (isSame)
            points.back() = point;
        else
            points.push_back(point);
    }
    return points;
}

} // namespace kernelskill::analysis
