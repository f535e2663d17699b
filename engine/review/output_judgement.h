/// Judges whether the candidate computes the same as the original, within the edit's accuracy.
#pragma once

#include "engine/comparison/output_comparison.h"
#include "engine/review/closeness.h"
#include "engine/review/synchronisation_change.h"
#include "engine/review/trial_run.h"
#include "engine/verdict/check_result.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct OutputJudgement {
    CheckResult check;
    /// The tolerance that the outputs were compared with. The control must exceed it.
    Tolerance tolerance;
    /// The largest scaled error of the original against float64; nullopt: no such reference was
    /// used.
    std::optional<double> ownError = std::nullopt;
};

/// Performs the check `name` on one pair of runs. Outputs are compared with the original bit by
/// bit, or with its float64 form; then the two float64 forms are compared, where the candidate has
/// one too. If the original has no such form, they are compared with the original with a larger
/// tolerance. The failure is not about the edit if the kernel writes nothing or has a
/// race of its own.
[[nodiscard]] OutputJudgement judgeOutputs(const std::string& name, const TrialPlace& place,
                                           const RunPair& pair, const Closeness& closeness);

/// Performs the check `name` on the hazards of one pair of runs: it fails for a hazard that the
/// original does not have, and for a race that is only suspected as well. `removed`: what the edit
/// takes away from the synchronisation; then the races that the original has may not be at more
/// places either.
[[nodiscard]] CheckResult judgeHazards(const std::string& name, const TrialPlace& place,
                                       const RunPair& pair,
                                       const std::vector<LessSynchronisation>& removed = {});

/// Whether a check of hazards failed for suspicions alone.
[[nodiscard]] bool isOnlySuspected(const FailedCheck& hazards);

} // namespace kernelskill::engine
