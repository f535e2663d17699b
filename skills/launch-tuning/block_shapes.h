/// Shapes of blocks that are worth a try.
#pragma once

#include "analysis/queries/launch_extents.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// Of at least a warp and at most `most` threads, with other extents than `block` along axes that
/// are `free`; those of nearly as many threads as `block` first.
[[nodiscard]] std::vector<analysis::Extents>
blockShapes(const analysis::Extents& block, const std::array<bool, 3>& free, std::int64_t most);

} // namespace kernelskill::skills
