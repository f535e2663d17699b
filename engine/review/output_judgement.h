/// Whether the candidate computed what the original did, as closely as the edit promises.
#pragma once

#include "engine/comparison/output_comparison.h"
#include "engine/review/trial_run.h"
#include "engine/verdict/check_result.h"

#include <string>

namespace kernelskill::engine {

/// How closely the results of a kernel under an edit must agree.
struct Closeness {
    skills::Numerics numerics = skills::Numerics::Exact;
    std::string note; ///< Why it is wider than the edit's own numerics; for the verdict.
};

/// What an edit of `numerics` promises for `kernel`: not every bit where threads add floating-point
/// values in no fixed order.
[[nodiscard]] Closeness closenessFor(const analysis::KernelModel& kernel,
                                     skills::Numerics numerics);

struct OutputJudgement {
    CheckResult check;
    Tolerance tolerance; ///< That the outputs were compared with: what the control must exceed.
};

/// The check `name` of one pair of runs. Outputs are compared with the original bit by bit, with
/// its float64 form, or with the original again, more loosely, where there is no such form. Not
/// about the edit when the kernel writes nothing or is a race of its own.
[[nodiscard]] OutputJudgement judgeOutputs(const std::string& name, const TrialPlace& place,
                                           const RunPair& pair, const Closeness& closeness);

/// The check `name` of the hazards of one pair of runs: none that the original does not have.
[[nodiscard]] CheckResult judgeHazards(const std::string& name, const TrialPlace& place,
                                       const RunPair& pair);

} // namespace kernelskill::engine
