/// Runs both versions under schedules that a GPU may choose and the emulator otherwise never does.
#pragma once

#include "engine/review/edit_evidence.h"
#include "engine/review/output_judgement.h"
#include "engine/review/synchronisation_change.h"
#include "engine/review/trial_run.h"
#include "engine/verdict/check_result.h"

#include <cstdint>
#include <vector>

namespace kernelskill::engine {

/// The trial to run under several schedules: the smallest one with several blocks that runs the
/// same instances as `built`. Its number in `plan`; nullopt if all are too large.
[[nodiscard]] std::optional<std::size_t> trialForSchedules(const TrialPlan& plan,
                                                           const Trial& built);

/// Performs the check that both versions agree on `base` under each schedule, as far as the
/// original agrees with itself, and that the candidate adds no race under any. A schedule under
/// which the original does not end is left out. `removed`: what the edit takes away from the
/// synchronisation. Then the check fails if no schedule could be run. `isThorough`: with one more
/// order, for kernels whose threads meet by more than barriers. Adds runs that agree to `evidence`,
/// which may be null.
[[nodiscard]] CheckResult checkSchedules(const TrialRunner& runner, const Comparand& base,
                                         const Closeness& closeness,
                                         const std::vector<LessSynchronisation>& removed,
                                         bool isThorough, EditEvidence* evidence = nullptr);

} // namespace kernelskill::engine
