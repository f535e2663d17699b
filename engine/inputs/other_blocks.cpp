#include "engine/inputs/other_blocks.h"

#include "engine/inputs/block_work.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace kernelskill::engine {
namespace {

bool hasStaticShared(const analysis::KernelModel& kernel) {
    return std::ranges::any_of(kernel.sharedArrays,
                               [](const analysis::SharedArray& array) { return !array.isDynamic; });
}

} // namespace

std::vector<Dim3> otherBlocks(KernelInFile original, KernelInFile candidate,
                              const LaunchSpec& launch) {
    const Dim3& block = launch.block;
    std::vector<Dim3> others;
    if (block.z != 1)
        return others;
    if (block.y == 1) {
        for (const std::uint32_t threads : {64u, 512u, 96u}) {
            // Kernels that halve a block's range take powers of two for granted.
            const bool fits = std::has_single_bit(threads) ||
                              (hasIndependentThreads(original) && hasIndependentThreads(candidate));
            if (threads != block.x && fits)
                others.push_back({threads, 1, 1});
        }
    } else if (!hasStaticShared(original.kernel) && !hasStaticShared(candidate.kernel)) {
        if (block.x % 2 == 0)
            others.insert(others.end(), {{block.x / 2, block.y * 2, 1}, {block.x / 2, block.y, 1}});
        if (block.y % 2 == 0)
            others.push_back({block.x * 2, block.y / 2, 1});
    }
    // Shared memory that the launch sizes may be enough for as many threads alone.
    if (launch.dynamicSharedBytes > 0)
        std::erase_if(others, [&](const Dim3& other) { return other.count() > block.count(); });
    return others;
}

Dim3 gridOfBlocks(const LaunchSpec& launch, const Dim3& block) {
    const auto covering = [](std::uint64_t threads, std::uint32_t ofBlock) {
        return static_cast<std::uint32_t>((threads + ofBlock - 1) / ofBlock);
    };
    Dim3 grid = launch.grid;
    grid.x = covering(std::uint64_t{grid.x} * launch.block.x, block.x);
    // Other axes of a grid of flat blocks count something else.
    if (launch.block.y == 1 && block.y == 1)
        return grid;
    grid.y = covering(std::uint64_t{grid.y} * launch.block.y, block.y);
    // A kernel may count an axis of the grid with another axis of its blocks.
    for (auto [blocks, before] :
         {std::pair{&grid.x, launch.grid.x}, {&grid.y, launch.grid.y}, {&grid.z, launch.grid.z}})
        if (before > 1)
            *blocks = std::max({*blocks, covering(std::uint64_t{before} * launch.block.x, block.x),
                                covering(std::uint64_t{before} * launch.block.y, block.y)});
    return grid;
}

} // namespace kernelskill::engine
