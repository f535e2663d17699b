/// Names the emulator's counters as Nsight Compute does.
#pragma once

#include "engine/execution/emulator/wire/counters.h"
#include "engine/execution/profile.h"

namespace kernelskill::engine::emulator {

/// Sums of zero and ratios with a zero denominator are left out. Names that begin with
/// "kernelskill__" have no counterpart in Nsight Compute; metric_names.h explains them. On a line,
/// unique bytes are those that no earlier line touched. The emulator counts accesses and basic
/// blocks as instructions, so smsp__thread_inst_executed_per_inst_executed is an estimate.
[[nodiscard]] Metrics namedMetrics(const Counters& counters);

} // namespace kernelskill::engine::emulator
