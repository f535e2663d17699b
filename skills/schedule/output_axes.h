/// Kernels whose threads each compute one output of a rectangle: two variables tell which.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// One of the two positions of an output: `int row = blockIdx.y * blockDim.y + threadIdx.y;`
struct OutputAxis {
    analysis::VariableId variable = analysis::noId; ///< Holds the position and never changes.
    int gridAxis = -1;        ///< Blocks along it follow each other; -1: each block has them all.
    std::int64_t threads = 1; ///< The positions of a block, one a thread.
    std::string offset;       ///< Where the first block begins, as an expression; empty: at 0.
    std::string local;        ///< The thread's number among `threads`, as an expression.
    bool isLocalBare = false; ///< `local` needs no parentheses beside an operator.
};

/// `int row = index / columns; int column = index % columns;`: the outputs are counted row by row.
struct FlatOutputs {
    analysis::VariableId index = analysis::noId; ///< The thread's number in the grid.
    analysis::ExprId columns = analysis::noId;
};

struct OutputAxes {
    OutputAxis slow; ///< Neighbouring threads have the same position, if any axis has one.
    OutputAxis fast;
    analysis::Extents block{1, 1, 1};
    std::string thread; ///< The thread's number in the block, as an expression.
    /// The variables that tell where a thread or block is, other than those of the axes.
    std::vector<analysis::VariableId> positions;
    /// Set where blocks are runs of outputs instead of rectangles. Then `threads` and `local` are
    /// of the rectangle that a block is to have.
    std::optional<FlatOutputs> flat;

    [[nodiscard]] std::int64_t threads() const { return block[0] * block[1] * block[2]; }
};

/// All pairs of variables such that each thread of a block has another pair of positions, and
/// together they have all pairs; likeliest first. Refuses with `no-launch`, `unknown-block`,
/// `several-blocks` or `no-output-axes`.
[[nodiscard]] Gated<std::vector<OutputAxes>> outputAxes(const SkillContext& context);

} // namespace kernelskill::skills
