/// The cost of a warp's request, from the addresses of its lanes.
#pragma once

#include <cstdint>
#include <span>

namespace kernelskill::analysis {

/// The sectors that lanes of `width` bytes each touch, if the memory began `shift` bytes on.
[[nodiscard]] double sectorsOf(std::span<const std::int64_t> addresses, std::int64_t width,
                               std::int64_t shift = 0);

/// The wavefronts of a request to shared memory; 1 means free of conflicts. 64-bit and 128-bit
/// accesses are served by half and quarter warps.
[[nodiscard]] double wavefrontsOf(std::span<const std::int64_t> addresses, std::int64_t width);

} // namespace kernelskill::analysis
