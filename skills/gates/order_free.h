/// Loops whose rounds may run in another order, as far as their statements tell.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

namespace kernelskill::skills {

/// Refuses what rounds of the loop may not do in another order, or an edit would not follow:
/// `barrier`, `atomic`, `warp-operation`, `leaves-loop`, `address-taken`, `unknown-call`. What
/// rounds leave to each other in variables and memory is for the caller to ask.
[[nodiscard]] Gated<void> requireOrderFree(const SkillContext& context, const analysis::Loop& loop);

/// Whether a `break` or `continue` is about the loop, and not about one in it or a switch.
[[nodiscard]] bool isAbout(const analysis::CodeMap& code, const analysis::Stmt& exit,
                           const analysis::Loop& loop);

/// `tex1Dfetch(features, i)` and the like, which return what they fetch.
[[nodiscard]] bool isTextureFetch(const analysis::Expr& expr);

} // namespace kernelskill::skills
