/// Which tiles of a product's results depend on the product. In a triangular result about half of
/// them do: the others are stored as zeros without loads or products.
#pragma once

#include "engine/graph/kernels/contraction.h"
#include "engine/graph/kernels/contraction_schedule.h"

#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

/// Indices of which at least one is at most 0 for each tile that needs its products. They are
/// functions of the batches' axes and of the sizes `firstRow` and `firstColumn`, the numbers of the
/// tile's first row and column. nullopt if every tile needs its products.
[[nodiscard]] std::optional<std::vector<analysis::raise::Index>>
neededTiles(const Contraction& contraction, const ContractionTile& tile);

} // namespace kernelskill::engine::graph
