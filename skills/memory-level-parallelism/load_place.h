/// Finds what the place of a load needs, so that it can be loaded ahead of its round.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/counted_loop.h"

#include <optional>
#include <vector>

namespace kernelskill::skills {

/// Returns the declarations of a round that `place` needs, in the order of the source, if the place
/// depends on the loop's index and on nothing else that the loop computes: they read no memory but
/// that of `const __restrict__` pointers, and nothing changes them. nullopt otherwise.
[[nodiscard]] std::optional<std::vector<analysis::StmtId>>
localsOfPlace(const SkillContext& context, const AdvancingLoop& head, analysis::ExprId place);

} // namespace kernelskill::skills
