/// Which number of threads a block had better have, as far as the launch alone tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct BlockChoice {
    std::int64_t threads = 0; ///< A multiple of a warp.
    double factor = 1;        ///< Times faster at most, above 1.
    std::string basis;        ///< The reason for the factor, as a clause.
    std::string why;          ///< The fault of the block as it is, as a clause.
};

/// For a launch of `blocks` blocks (if they are known) of `threads` threads in a row. nullopt when
/// nothing speaks against the launch as it is.
[[nodiscard]] std::optional<BlockChoice> betterBlock(std::int64_t threads,
                                                     std::optional<std::int64_t> blocks);

/// Further sizes that are worth a try where `chosen` is, nearest first.
[[nodiscard]] std::vector<std::int64_t> otherBlocks(std::int64_t threads, std::int64_t chosen);

} // namespace kernelskill::skills
