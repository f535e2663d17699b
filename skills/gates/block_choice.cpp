#include "skills/gates/block_choice.h"

#include "analysis/source/gpu_constants.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelskill::skills {

namespace {

/// The limits of a multiprocessor since compute capability 7.0, whatever else holds (CUDA C++
/// Programming Guide, technical specifications): 2048 or 1536 threads, 32 blocks at most.
constexpr std::int64_t residentThreads = 2048;
constexpr std::int64_t residentBlocks = 32;
/// Fewer blocks than this leave multiprocessors of a data-centre GPU idle, or make them wait for
/// the few that got one block more: 132 to 148 multiprocessors, twice.
constexpr std::int64_t enoughBlocks = 256;
constexpr std::array<std::int64_t, 5> sizes = {32, 64, 128, 256, 512};

std::int64_t roundedUp(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

} // namespace

std::optional<BlockChoice> betterBlock(std::int64_t threads, std::optional<std::int64_t> blocks) {
    const std::int64_t lanes = roundedUp(threads, analysis::warpLanes);
    if (blocks && *blocks < enoughBlocks && lanes > analysis::warpLanes) {
        // The largest size that still makes enough blocks.
        std::int64_t chosen = sizes.front();
        for (const std::int64_t size : sizes)
            if (size < threads && *blocks * threads / size >= enoughBlocks)
                chosen = size;
        const std::int64_t after = (*blocks * threads + chosen - 1) / chosen;
        return BlockChoice{
            chosen,
            static_cast<double>(std::min(after, enoughBlocks)) / static_cast<double>(*blocks),
            "blocks that can be spread over multiprocessors, after over before",
            fmt::format("{} blocks of {} threads keep no more than {} multiprocessors busy",
                        *blocks, threads, *blocks)};
    }
    if (lanes != threads)
        return BlockChoice{lanes, static_cast<double>(lanes) / static_cast<double>(threads),
                           "lanes of whole warps over those used",
                           fmt::format("{} of the {} lanes in the warps of a block have a thread",
                                       threads, lanes)};
    const bool isPlenty = !blocks || *blocks * threads / 128 >= enoughBlocks;
    if (threads * residentBlocks < residentThreads && isPlenty)
        return BlockChoice{
            128,
            static_cast<double>(residentThreads) / static_cast<double>(threads * residentBlocks),
            "threads that fit into a multiprocessor over those that 32 blocks fill",
            fmt::format("{} blocks of {} threads, all that a multiprocessor holds, fill {} of its "
                        "{} places",
                        residentBlocks, threads, threads * residentBlocks, residentThreads)};
    return std::nullopt;
}

std::vector<std::int64_t> otherBlocks(std::int64_t threads, std::int64_t chosen) {
    std::vector<std::int64_t> others;
    for (const std::int64_t size : sizes)
        if (size != threads && size != chosen)
            others.push_back(size);
    std::ranges::stable_sort(others, {}, [&](std::int64_t size) {
        return std::abs(std::log2(static_cast<double>(size)) -
                        std::log2(static_cast<double>(chosen)));
    });
    return others;
}

} // namespace kernelskill::skills
