/// The rule by which an optimisation keeps a candidate or drops it.
#pragma once

#include "engine/optimization/optimization.h"

#include <string>

namespace kernelskill::engine {

struct CandidateDecision {
    bool isKept = false;
    std::string sentence;
};

/// Whether a text with the judgement `verdict` is better than the one before it: if it was measured
/// and is Faster; where nothing was measured, if it is correct and isImprovement() by the cost
/// model. A text that the GPU's compiler refuses, and the one before it not, is not kept either.
[[nodiscard]] CandidateDecision decideCandidate(const Verdict& verdict, const Standing& before,
                                                const Standing& after);

/// Counts of different problems say nothing. A guessed launch follows the kernel's text, which the
/// edit changed: it has to be the very same.
[[nodiscard]] bool isSameProblem(const LaunchSpec& before, const LaunchSpec& after);

/// The first check that failed, else the summary.
[[nodiscard]] std::string firstFailedCheck(const Verdict& verdict);

} // namespace kernelskill::engine
