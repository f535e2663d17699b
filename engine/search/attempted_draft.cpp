#include "engine/search/attempted_draft.h"

namespace kernelskill::engine {

using Moment = OptimizationSteps::Moment;

Result<Draft> draftAttempt(OptimizationSteps& steps, const KernelVersion& text, Attempt& attempt,
                           std::stop_token stop) {
    steps.remember(Moment::Begins, text, attempt, nullptr);
    auto draft = steps.draft(text, attempt.plan.offer, stop);
    if (!draft && !stop.stop_requested())
        noteMissingDraft(steps, text, attempt, draft.error());
    return draft;
}

void noteMissingDraft(OptimizationSteps& steps, const KernelVersion& text, Attempt& attempt,
                      const Error& why) {
    attempt.decision = "no edit: " + why.describe();
    if (why.kind != ErrorKind::InvalidInput)
        steps.remember(Moment::Decided, text, attempt, nullptr);
}

} // namespace kernelskill::engine
