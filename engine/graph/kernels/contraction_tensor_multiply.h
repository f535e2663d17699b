/// The text of products of tiles in shared memory by tensor cores.
#pragma once

#include "engine/graph/kernels/contraction_multiply.h"
#include "engine/graph/kernels/contraction_schedule.h"
#include "engine/graph/kernels/kernel_draft.h"

#include <string>

namespace kernelskill::engine::graph {

/// Elements of the depth that follow each other and are a lane's. Which ones those are does not
/// matter as long as both factors agree.
[[nodiscard]] int depthOfLane(MultiplyUnit unit);
/// Whether a lane takes four neighbouring rows or columns at once, as one access loads them.
[[nodiscard]] bool isInFours(TileLayout layout, int warpOuter);

/// The device functions that the text below calls.
[[nodiscard]] std::string tensorFunctionsOf(MultiplyUnit unit, SplitSums sums);

/// Writes the part of writeMultiply() that runs on tensor cores.
void writeTensorMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                         TileLayout right, SplitSums sums);

} // namespace kernelskill::engine::graph
