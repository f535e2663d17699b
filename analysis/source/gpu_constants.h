/// What is the same on every GPU that CUDA runs on.
#pragma once

#include <cstdint>

namespace kernelskill::analysis {

inline constexpr std::int64_t warpLanes = 32;   ///< Threads of a warp.
inline constexpr std::int64_t sectorBytes = 32; ///< What caches and memory move at once.

} // namespace kernelskill::analysis
