/// Kernels whose loads follow each other along one digit of the position and whose stores along
/// another.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"
#include "skills/shared-memory-transpose/copied_element.h"
#include "skills/shared-memory-transpose/position_digits.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kernelskill::skills {

/// Rows and columns of a tile, other than those of TileForm::Block.
inline constexpr std::int64_t tileSide = 32;
/// The threads of a block of TileForm::Grid: rows of tileSide threads, and all together.
inline constexpr std::int64_t tileRows = 8;
inline constexpr std::int64_t tileThreads = tileRows * tileSide;

/// A position along one axis of a tile, or the number of the element along the others.
struct CopyDigit {
    PositionSlice slice;
    analysis::VariableId variable = analysis::noId; ///< Holds it and nothing else; noId: none does.
    analysis::ExprId example = analysis::noId;      ///< An expression that has it.
    /// The end of its values as a product of sizes; nullopt: as `limit` has it.
    std::optional<SizeProduct> extent;
    /// The end of its values, or of the whole position; noId: not known.
    analysis::ExprId limit = analysis::noId;
    bool isLimitIncluded = false;
    bool isLimitOfWhole = false; ///< The digit has the rounded quotient of it.
};

/// The way blocks share the tiles.
enum class TileForm : std::uint8_t {
    Grid,  ///< Blocks of 32 x 8 threads take a tile of 32 x 32; launches follow.
    Block, ///< Each block takes the rectangle that it has; launches stay.
    Loop,  ///< Blocks along x take tiles of 32 x 32 in turns, whatever the grid.
};

struct CrossedCopy {
    std::shared_ptr<PositionDigits> digits;
    CopyElement element;
    /// Loads that are staged, one of those that are the same; empty: the values of all stores are.
    std::vector<analysis::ExprId> staged;

    TileForm form = TileForm::Grid;
    analysis::Extents block{1, 1, 1}; ///< As launched; of the first launch.
    CopyDigit in;                     ///< Loads follow each other along it.
    CopyDigit out;                    ///< Stores do.
    std::vector<CopyDigit> others;    ///< For TileForm::Loop: the other digits, lowest first.
    bool resizesGrid = false;         ///< For TileForm::Loop.
    bool isUnbounded = false;         ///< For TileForm::Loop: the grid alone ends the positions.
    double sectorsBefore = 0;         ///< A warp's, of all known loads and stores.
    double sectorsAfter = 0;
};

[[nodiscard]] Gated<CrossedCopy> crossedCopy(const SkillContext& context);

} // namespace kernelskill::skills
