/// Judges the errors of all runs of a review together: what no single run shows.
#pragma once

#include "engine/comparison/error_distribution.h"
#include "engine/review/output_judgement.h"
#include "engine/review/trial_run.h"
#include "engine/verdict/check_result.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

class ReviewErrors {
public:
    /// Adds a pair of runs of `launch` whose outputs agreed within `judged`. Nothing for an exact
    /// edit, and where only finiteness counts.
    void add(const LaunchSpec& launch, const RunPair& pair, const Closeness& closeness,
             const OutputJudgement& judged);

    /// The check: the candidate's errors are not to one side, unless the original's are or the
    /// error that the edit states explains it, and it keeps the small results that the original
    /// keeps, as far as float64 shows them. The detail says bound, largest error and bias in units
    /// in the last place.
    [[nodiscard]] CheckResult judge(const Closeness& closeness) const;
    /// The largest error, the bound and the bias of the output with the largest error, with a space
    /// in front; empty if there is no error.
    [[nodiscard]] std::string sentence() const;
    /// Whether there is anything to judge.
    [[nodiscard]] bool hasAny() const;

private:
    /// The errors of one instance of the kernel. Others compute something else.
    struct Errors {
        std::vector<std::string> templateArguments;
        bool hasTruth = false; ///< The reference is float64; else the original.
        ErrorDistribution distribution;
    };
    Errors& errorsOf(const LaunchSpec& launch, bool hasTruth);

    std::vector<Errors> errors_;
};

} // namespace kernelskill::engine
