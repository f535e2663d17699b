/// How a kernel asks for its position along x, where a group of threads can take the place of each
/// thread: the threads of the grid are numbered through, in whatever form.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// `threadIdx.x + width * blocks`, as a sum of the text.
struct PositionSum {
    analysis::ExprId sum = analysis::noId;
    analysis::ExprId blocks = analysis::noId; ///< The operand of the product beside the width.
};

struct RowPosition {
    std::vector<analysis::ExprId> threads; ///< `threadIdx.x`, in the order of the source.
    /// `blockDim.x`, or a constant that the blocks of all launches fill.
    std::vector<analysis::ExprId> widths;
    /// The sums that hold all threads and widths; empty where some are elsewhere.
    std::vector<PositionSum> sums;
    /// The first statement of the kernel's outermost block that declares something by it; noId:
    /// there is none.
    analysis::StmtId declaration = analysis::noId;
    /// The only thread of every launch, which the kernel does not ask for.
    bool isOneThread = false;
    bool isAxisShared = false; ///< The blocks of launches have further threads along y or z.
};

/// Refuses with `no-row-index` where a kernel does not ask for threadIdx.x, with
/// `uses-thread-position` where something else than the thread's number in the grid is asked for,
/// and with `from-macro`.
[[nodiscard]] Gated<RowPosition> rowPosition(const SkillContext& context);

} // namespace kernelskill::skills
