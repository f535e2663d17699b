#include "engine/search/attempted_draft.h"

namespace kernelskill::engine {

Result<Draft> draftAttempt(OptimizationSteps& steps, const KernelVersion& text, Attempt& attempt,
                           std::stop_token stop) {
    using Moment = OptimizationSteps::Moment;
    steps.remember(Moment::Begins, text, attempt, nullptr);
    auto draft = steps.draft(text, attempt.plan.offer, stop);
    if (draft || stop.stop_requested())
        return draft;
    attempt.decision = "no edit: " + draft.error().describe();
    if (draft.error().kind != ErrorKind::InvalidInput)
        steps.remember(Moment::Decided, text, attempt, nullptr);
    return draft;
}

} // namespace kernelskill::engine
