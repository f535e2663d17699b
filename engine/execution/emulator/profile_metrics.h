/// Counters under the names a user of Nsight Compute knows.
#pragma once

#include "engine/execution/emulator/wire/counters.h"
#include "engine/execution/profile.h"

namespace kernelskill::engine::emulator {

/// Sums that are zero and ratios of nothing are left out. Names that start with "kernelskill__" are
/// quantities that Nsight Compute has no name for; metric_names.h explains them. On a line, unique
/// bytes are those that no line before it has touched. Instructions are those the emulator sees
/// (accesses and basic blocks), so smsp__thread_inst_executed_per_inst_executed is an estimate.
[[nodiscard]] Metrics namedMetrics(const Counters& counters);

} // namespace kernelskill::engine::emulator
