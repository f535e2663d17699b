/// Decides whether an optimisation keeps a candidate.
#pragma once

#include "engine/optimization/optimization.h"

#include <string>

namespace kernelskill::engine {

struct CandidateDecision {
    bool isKept = false;
    std::string sentence;
};

/// Whether a text is better than the one before it, given its `verdict`. It is if it was measured
/// and is Faster; or, if nothing was measured, if it is correct and isImprovement() holds in the
/// cost model. It is not kept if the GPU's compiler refuses it but accepted the one before.
[[nodiscard]] CandidateDecision decideCandidate(const Verdict& verdict, const Standing& before,
                                                const Standing& after);

/// Whether a text that was not kept is as good as the one before it: neither measured slower nor,
/// if nothing was measured, slower in the cost model; and not known to be wrong.
[[nodiscard]] bool isNoLoss(const Verdict& verdict, const Standing& before, const Standing& after);

/// Whether counts of both launches can be compared, because they solve the same problem: what both
/// pass is equal. Grid and block that follow from the kernel's text, which the edit changed, must
/// be equal, too; those of a launch in the text follow from what is passed, be it guessed.
[[nodiscard]] bool isSameProblem(const LaunchSpec& before, const LaunchSpec& after);

/// The first check that failed, else the summary.
[[nodiscard]] std::string firstFailedCheck(const Verdict& verdict);

} // namespace kernelskill::engine
