/// How many outputs a thread computes, and how many terms a tile holds.
#pragma once

#include "skills/schedule/contraction.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

struct TileShape {
    int slow = 1; ///< Outputs of a thread along each axis.
    int fast = 1;
    int terms = 8;

    [[nodiscard]] int outputs() const { return slow * fast; }
    bool operator==(const TileShape&) const = default;
};

/// The axes with several outputs a thread whose positions no guard bounds: the last blocks of a
/// smaller grid leave them, unless the kernel is told how many blocks it had.
[[nodiscard]] AxisSet unboundedAxes(const Contraction& found, const TileShape& shape);

/// The elements that fill a load of 16 bytes; 1 where the size is not known or larger.
[[nodiscard]] int elementsOfALoad(std::uint32_t size);
/// The elements along an operand's axis that its tile has for a term, without those that keep
/// stores of a warp apart.
[[nodiscard]] std::int64_t tileExtent(const Contraction& found, const TileOperand& operand,
                                      const TileShape& shape);
/// Elements added to that, so that a warp which stores along the terms meets different banks.
[[nodiscard]] int tilePadding(const TileOperand& operand);
[[nodiscard]] std::int64_t sharedBytes(const Contraction& found, const TileShape& shape);

/// Loads of a thread for a term of one output, where those of 16 bytes count once.
[[nodiscard]] double loadsOfATerm(const Contraction& found, const TileShape& shape);
/// The same before, each from global memory.
[[nodiscard]] double loadsBefore(const Contraction& found);

/// Shapes of several outputs a thread, best first as far as a model tells: shared memory's
/// wavefronts against arithmetic, and the work of staging. Refuses with `no-bounds-guard`,
/// where no launch can pass the number of its blocks either, `too-few-blocks`, `no-reuse` or
/// `too-much-shared-memory`.
[[nodiscard]] Gated<std::vector<TileShape>> microTiles(const SkillContext& context,
                                                       const Contraction& found);
/// One output a thread. Refuses with `flat-blocks`, `no-reuse` or `too-much-shared-memory`.
[[nodiscard]] Gated<TileShape> plainTile(const SkillContext& context, const Contraction& found);

} // namespace kernelskill::skills
