/// Shapes of blocks that are worth a try.
#pragma once

#include "analysis/queries/launch_extents.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// Returns shapes of at least a warp and at most `most` threads that differ from `block` only along
/// `free` axes, sorted by how little their number of threads differs from that of `block`.
[[nodiscard]] std::vector<analysis::Extents>
blockShapes(const analysis::Extents& block, const std::array<bool, 3>& free, std::int64_t most);

} // namespace kernelskill::skills
