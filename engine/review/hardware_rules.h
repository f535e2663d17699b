/// Rules of GPUs that an edit can break without a trace in an emulated run.
#pragma once

#include "engine/inputs/trial.h"
#include "engine/verdict/check_result.h"

#include <optional>

namespace kernelskill::engine {

/// The first rule that the candidate breaks and the original keeps: a launch stays within the
/// limits of a GPU and of `__launch_bounds__`, and nothing that the kernel writes is read through
/// the read-only cache, which need not see those writes. Both programs' models are set.
[[nodiscard]] std::optional<FailedCheck> brokenHardwareRule(KernelRef original, KernelRef candidate,
                                                            const TrialPlan& plan);

} // namespace kernelskill::engine
