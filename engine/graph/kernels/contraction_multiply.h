/// The text of the innermost part of a contraction's kernel: products of tiles in shared memory.
#pragma once

#include "engine/graph/kernels/contraction_schedule.h"
#include "engine/graph/kernels/kernel_draft.h"

#include <cstdint>
#include <string>

namespace kernelskill::engine::graph {

/// How the tile of a factor lies in shared memory. "Outer" are its rows or columns.
enum class TileLayout : std::uint8_t {
    DepthByOuter,    ///< One element of the depth after the other, each with all of the outer axis.
    DepthBySwizzled, ///< So, with groups of four whose places are exchanged by the depth.
    OuterByDepth,    ///< Blocks of 16 of the depth, in which one row or column follows the other.
};

/// The layout of a factor of which a block's tile has `outer` rows or columns.
[[nodiscard]] TileLayout layoutOf(const ContractionTile& tile, const FactorAccess& access,
                                  int outer);
/// The number of floats that such a tile takes.
[[nodiscard]] int sizeOf(TileLayout layout, const ContractionTile& tile, int outer);
/// The place of an element in the tile; `depth` and `at` are identifiers or in parentheses.
[[nodiscard]] std::string placeText(TileLayout layout, int outer, const std::string& depth,
                                    const std::string& at);

/// The device functions that the text below calls; empty for float32.
[[nodiscard]] std::string multiplyFunctions(MultiplyUnit unit);

/// Declares `sums`, a thread's results, and `multiply(left, right)`, which adds the products of two
/// tiles to them. The constants of ContractionTile have to be declared before, by their names.
void writeMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                   TileLayout right);
/// Loops over a thread's results; `statement` is run for each, and names the places in the block's
/// tile `row` and `column`, and the result `sum`.
void writeForEachSum(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                     TileLayout right, const std::string& statement);

} // namespace kernelskill::engine::graph
