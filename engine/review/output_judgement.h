/// Judges whether the candidate computes the same as the original, within the edit's accuracy.
#pragma once

#include "engine/comparison/output_comparison.h"
#include "engine/review/synchronisation_change.h"
#include "engine/review/trial_run.h"
#include "engine/verdict/check_result.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The accuracy to which the results of a kernel must agree under an edit.
struct Closeness {
    skills::Accuracy accuracy = {};
    std::string note; ///< Why it is looser than the edit's own numerics; for the verdict.
    std::map<std::string, double> usualScales = {}; ///< See Tolerance.
    /// termsOfAResult() of the run that has these scales.
    double usualTerms = 0;
    /// The largest scaled error that the original has on usual inputs: how much the kernel enlarges
    /// errors on their way.
    double usualError = 0;
    bool onlyFiniteness = false; ///< Any finite value does where one is expected.
    /// The kernel computes in float and only rounds its results to 16 bits, see
    /// computesInFullPrecision().
    bool onlyStoresHalf = false;
};

/// The closeness that an edit of `accuracy` promises for `kernel`. It is not exact if threads add
/// floating-point values in no fixed order.
[[nodiscard]] Closeness closenessFor(const analysis::KernelModel& kernel,
                                     const skills::Accuracy& accuracy);

/// The elements that a run read for each result: the terms of a result that is a sum of them all.
[[nodiscard]] double termsOfAResult(const RunPair& pair);

/// `closeness` for a run whose results may be sums of fewer terms than on usual inputs: these are
/// smaller, so that an error that a long sum hides counts.
[[nodiscard]] Closeness closenessAt(Closeness closeness, const RunPair& pair);

struct OutputJudgement {
    CheckResult check;
    /// The tolerance that the outputs were compared with. The control must exceed it.
    Tolerance tolerance;
    /// The largest scaled error of the original against float64; nullopt: no such reference was
    /// used.
    std::optional<double> ownError = std::nullopt;
};

/// Performs the check `name` on one pair of runs. Outputs are compared with the original bit by
/// bit, or with its float64 form. If there is no such form, they are compared with the original
/// with a larger tolerance. The failure is not about the edit if the kernel writes nothing or has a
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
