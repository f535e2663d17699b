/// Whether launches have blocks for all positions of a kernel.
#pragma once

#include "skills/base/skill.h"

#include <cstddef>
#include <vector>

namespace kernelskill::skills {

/// Every launch has a thread for each position below the limit, or up to it, as far as its text
/// tells: then an edit may give a block more positions than it has, and round its grid up. The
/// position is numbered through along `axes` of the grid. `limit` is an expression of the kernel.
[[nodiscard]] bool coversPositions(const SkillContext& context,
                                   const std::vector<std::size_t>& axes, analysis::ExprId limit,
                                   bool isLimitIncluded);

} // namespace kernelskill::skills
