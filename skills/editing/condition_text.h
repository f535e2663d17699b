/// Conditions as text, put together and turned round.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <string>
#include <string_view>

namespace kernelskill::skills {

/// `condition` as text, negated: comparisons of integers are turned round, others get a '!'.
[[nodiscard]] std::string negated(const SkillContext& context, const analysis::CodeMap& code,
                                  analysis::ExprId condition);

} // namespace kernelskill::skills
