/// The text of the innermost part of a contraction's kernel: products of tiles in shared memory.
#pragma once

#include "engine/graph/kernels/contraction_schedule.h"
#include "engine/graph/kernels/kernel_draft.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelskill::engine::graph {

/// How the tile of a factor lies in shared memory. "Outer" are its rows or columns.
enum class TileLayout : std::uint8_t {
    DepthByOuter,    ///< One element of the depth after the other, each with all of the outer axis.
    DepthBySwizzled, ///< So, with groups of four whose places are exchanged by the depth.
    OuterByDepth,    ///< One row or column after the other, with blocks of 8 or 16 exchanged.
};

/// The layout of a factor of which a block's tile has `outer` rows or columns.
[[nodiscard]] TileLayout layoutOf(const ContractionTile& tile, const FactorAccess& access,
                                  int outer);
/// The number of floats that such a tile takes.
[[nodiscard]] int sizeOf(TileLayout layout, const ContractionTile& tile, int outer);
/// The place of an element in the tile; `depth` and `at` are identifiers or in parentheses.
[[nodiscard]] std::string placeText(TileLayout layout, const ContractionTile& tile, int outer,
                                    const std::string& depth, const std::string& at);

/// The sums to which a lane adds the products of factors that are split in two.
enum class SplitSums : std::uint8_t {
    Step, ///< Those of one step, which float adds to the results: tensor cores truncate sums.
    All,  ///< The results themselves: faster, and as exact as the factors where terms are few.
};
/// Chooses the sums for `depth` terms a block; nullopt: the number is not known.
[[nodiscard]] SplitSums sumsOf(const ContractionTile& tile, std::optional<std::int64_t> depth);

/// The device functions that the text below calls; empty for float32.
[[nodiscard]] std::string multiplyFunctions(MultiplyUnit unit, SplitSums sums);

/// Declares `sums`, a thread's results, and `multiply(left, right)`, which adds the products of two
/// tiles to them. For tensor cores in TF32, `load(left, right, depth, into)` reads eight elements
/// of the depth into one of two parts, `multiply(from)` multiplies a part, and after the last one
/// of a step `addStepSums()` is to be called where TF32 is split. The constants of ContractionTile
/// have to be declared before, by their names.
void writeMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left, TileLayout right,
                   SplitSums sums);

/// How the block's tile of results lies in shared memory: rows or columns are neighbours. Places
/// are exchanged so that what a warp writes at once lies in different banks.
class ResultLayout {
public:
    ResultLayout(const ContractionTile& tile, TileLayout left, TileLayout right, bool isByRows);
    /// Writes the thread's results to `results`.
    void write(CodeLines& lines) const;
    /// The place of a result; four neighbours from a multiple of four on stay neighbours.
    [[nodiscard]] std::string placeText(const std::string& row, const std::string& column) const;
    [[nodiscard]] int floats() const;

private:
    void writeSingles(CodeLines& lines) const;
    void writeQuads(CodeLines& lines) const;
    [[nodiscard]] int pitch() const;

    ContractionTile tile_;
    bool isByRows_;
    bool areRowsInFours_;    ///< A thread has four neighbouring rows.
    bool areColumnsInFours_; ///< A thread has eight neighbouring columns.
};

} // namespace kernelskill::engine::graph
