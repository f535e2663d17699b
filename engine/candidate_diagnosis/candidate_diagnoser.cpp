#include "engine/candidate_diagnosis/candidate_diagnoser.h"

#include "engine/candidate_diagnosis/compile_cause.h"
#include "engine/candidate_diagnosis/hazard_cause.h"
#include "engine/candidate_diagnosis/no_gain_cause.h"
#include "engine/candidate_diagnosis/output_cause.h"
#include "engine/candidate_diagnosis/run_cause.h"
#include "engine/verdict/review_failure.h"

namespace kernelskill::engine {

std::optional<CandidateDiagnosis> diagnoseCandidate(const DroppedCandidate& dropped,
                                                    const analysis::Toolchain& toolchain,
                                                    const std::stop_token& stop) {
    const Verdict& verdict = dropped.verdict;
    if (!verdict.isAboutEdit)
        return std::nullopt;
    const bool isCorrect =
        verdict.status != VerdictStatus::Incorrect && verdict.status != VerdictStatus::Invalid;
    if (isCorrect)
        return noGainCause(dropped);
    if (!verdict.failure)
        return std::nullopt;
    const ReviewFailure& failure = *verdict.failure;
    switch (failure.stage) {
    case ReviewStage::Edit:
    case ReviewStage::Order:
    case ReviewStage::Width:
    case ReviewStage::Hardware:
    case ReviewStage::Reach:
        return std::nullopt;
    case ReviewStage::Parse:
    case ReviewStage::Compile:
        return compileCause(dropped.after, failure, toolchain, stop);
    case ReviewStage::Run:
        return runCause(dropped.after, failure);
    case ReviewStage::Hazards:
        if (failure.hazards.empty())
            return std::nullopt; // Another tool found it: the verdict says all that is known.
        return hazardCause(dropped.after, failure);
    case ReviewStage::Outputs:
        break;
    }
    auto found =
        outputCause(dropped.before.kernel(), dropped.after.kernel(), dropped.numerics, failure);
    if (failure.hazards.empty())
        return found;
    // If the result is wrong, a suspected hazard becomes the likeliest cause.
    auto suspected = hazardCause(dropped.after, failure);
    suspected.evidence.insert(suspected.evidence.end(), found.evidence.begin(),
                              found.evidence.end());
    return suspected;
}

} // namespace kernelskill::engine
