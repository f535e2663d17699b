/// Constants that are the same on every GPU that CUDA supports.
#pragma once

#include <cstdint>

namespace kernelskill::analysis {

inline constexpr std::int64_t warpLanes = 32;         ///< Threads of a warp.
inline constexpr std::int64_t maxBlockThreads = 1024; ///< The max number of threads of a block.
/// The unit in which caches and memory transfer data.
inline constexpr std::int64_t sectorBytes = 32;

} // namespace kernelskill::analysis
