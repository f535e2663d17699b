/// The primitive `tile`: a block stages the operands of its outputs in shared memory, tile by tile
/// of terms, and each thread sums several outputs from there.
#pragma once

#include "skills/schedule/contraction.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/tile_shape.h"

namespace kernelskill::skills {

/// Rewrites the kernel, and the grids of its launches where a thread gets several outputs. Each
/// output's terms are added in the order they were. Needs a shape of microTiles() or plainTile().
void tileContraction(Draft& draft, const SkillContext& context, const Contraction& found,
                     const TileShape& shape);

} // namespace kernelskill::skills
