/// Constants that are the same on every GPU that CUDA supports.
#pragma once

#include <cstdint>

namespace kernelskill::analysis {

inline constexpr std::int64_t warpLanes = 32; ///< Threads of a warp.
/// The unit in which caches and memory transfer data.
inline constexpr std::int64_t sectorBytes = 32;

} // namespace kernelskill::analysis
