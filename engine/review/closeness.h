/// How close the results of an edit must be to those of the original.
#pragma once

#include "engine/comparison/output_comparison.h"
#include "engine/review/trial_run.h"

#include <map>
#include <string>

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
    /// Any finite value does where one is expected. Where the original is not finite and its
    /// float64 form is, that form's value does as well.
    bool onlyFiniteness = false;
    /// The kernel computes in float and only rounds its results to 16 bits, see
    /// computesInFullPrecision().
    bool onlyStoresHalf = false;
    /// The edit brings in numbers that float rounds, see bringsRoundedNumbers().
    bool bringsRoundedNumbers = false;
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

/// Whether the original's results tell how far from float64 those are that cancel. Of approximate
/// functions they do not: these have errors near zero that are not relative to their results.
[[nodiscard]] bool isMeasureOfCancellation(const RunPair& pair, const Closeness& closeness);

/// The tolerance where the original has no float64 form.
[[nodiscard]] Tolerance toleranceWithoutReference(const RunPair& pair, const Closeness& closeness);
/// The tolerance beside float64 that follows from the original's own error, `ownError`.
[[nodiscard]] Tolerance toleranceBeside(double ownError, const RunPair& pair,
                                        const Closeness& closeness);
/// The tolerance between the two float64 forms. `ownError`: the original's in float.
[[nodiscard]] Tolerance toleranceOfForms(double ownError, const RunPair& pair,
                                         const Closeness& closeness);

} // namespace kernelskill::engine
