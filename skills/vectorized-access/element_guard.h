/// Kernels that number their elements by the threads along x: with a bounds check for each axis, or
/// in a grid-stride loop.
#pragma once

#include "skills/base/skill.h"
#include "skills/vectorized-access/element_steps.h"

#include <vector>

namespace kernelskill::skills {

/// `if (x < width && y < height) work`, or the same with early returns, one condition at a time or
/// all at once; or `for (x = thread; x < width; x += threads) work`.
struct ElementGuard {
    analysis::VariableId index = analysis::noId; ///< x
    analysis::ExprId limit = analysis::noId;     ///< width, the same for all x.
    analysis::StmtId statement =
        analysis::noId; ///< The if with the bounds check of x, or the loop.
    bool isLoop = false;
    std::vector<analysis::StmtId> declarations; ///< Those before the work, in order.
    std::vector<analysis::StmtId> work;         ///< What is done for an element, in order.
};

/// Reads the kernel's guards. All other conditions around the work are the same for all x, and a
/// loop uses nothing else that differs between threads along x. Refuses with `no-flat-index`,
/// `no-bounds-guard`, `compound-guard`, `work-before-guard`, `work-after-guard`, and what
/// requireOnlyIndex() and requireKnownPositions() refuse with.
[[nodiscard]] Gated<ElementGuard> readElementGuard(const SkillContext& context);

} // namespace kernelskill::skills
