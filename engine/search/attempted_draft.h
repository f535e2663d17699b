/// The first half of an attempt: a search and a user who applies a skill both go through it.
#pragma once

#include "engine/search/optimization_steps.h"

#include <stop_token>

namespace kernelskill::engine {

/// Drafts the plan's edit and remembers that the plan was begun. An error is remembered, too, and
/// written to attempt.decision; InvalidInput (no such skill) is no failure of a skill and is not
/// remembered, nor is a cancelled draft.
[[nodiscard]] Result<Draft> draftAttempt(OptimizationSteps& steps, const KernelVersion& text,
                                         Attempt& attempt, std::stop_token stop);

} // namespace kernelskill::engine
