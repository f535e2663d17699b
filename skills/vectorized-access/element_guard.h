/// Kernels that number their elements by the threads along x and guard each axis with a bounds
/// check of its own.
#pragma once

#include "skills/base/skill.h"
#include "skills/vectorized-access/element_steps.h"

#include <vector>

namespace kernelskill::skills {

/// `if (x < width && y < height) work`, or the same with early returns, one condition at a time or
/// all at once.
struct ElementGuard {
    analysis::VariableId index = analysis::noId; ///< x
    analysis::ExprId limit = analysis::noId;     ///< width, the same for all x.
    analysis::StmtId statement = analysis::noId; ///< The if with the bounds check of x.
    std::vector<analysis::StmtId> declarations;  ///< Those before the work, in order.
    std::vector<analysis::StmtId> work;          ///< What is done for an element, in order.
};

/// Reads the kernel's guards. All other conditions around the work are the same for all x. Refuses
/// with `no-flat-index`, `no-bounds-guard`, `compound-guard`, `work-before-guard`,
/// `work-after-guard`, and what requireOnlyIndex() and requireKnownPositions() refuse with.
[[nodiscard]] Gated<ElementGuard> readElementGuard(const SkillContext& context);

} // namespace kernelskill::skills
