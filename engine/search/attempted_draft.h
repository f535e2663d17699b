/// The first half of an attempt, shared by a search and by a user who applies a skill.
#pragma once

#include "engine/search/optimization_steps.h"

#include <stop_token>

namespace kernelskill::engine {

/// Drafts the plan's edit, and remembers that the plan was begun. An error is remembered as well
/// and written to attempt.decision. Two errors are not remembered, because the skill did not fail:
/// InvalidInput (no such skill) and a cancelled draft.
[[nodiscard]] Result<Draft> draftAttempt(OptimizationSteps& steps, const KernelVersion& text,
                                         Attempt& attempt, std::stop_token stop);

} // namespace kernelskill::engine
