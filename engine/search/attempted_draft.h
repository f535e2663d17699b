/// The first half of an attempt, shared by a search and by a user who applies a skill.
#pragma once

#include "engine/search/optimization_steps.h"

#include <stop_token>

namespace kernelskill::engine {

/// Drafts the plan's edit, and remembers that the plan was begun and why there is no draft.
[[nodiscard]] Result<Draft> draftAttempt(OptimizationSteps& steps, const KernelVersion& text,
                                         Attempt& attempt, std::stop_token stop);

/// Writes to attempt.decision why the plan has no draft, and remembers it. InvalidInput (no such
/// skill) is not remembered, because the skill did not fail.
void noteMissingDraft(OptimizationSteps& steps, const KernelVersion& text, Attempt& attempt,
                      const Error& why);

} // namespace kernelskill::engine
