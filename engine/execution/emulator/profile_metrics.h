/// Counters under the names a user of Nsight Compute knows.
#pragma once

#include "engine/execution/emulator/counters.h"
#include "engine/execution/profile.h"

namespace kernelskill::engine::emulator {

/// Sums that are zero and ratios of nothing are left out. Names that start with "kernelskill__" are
/// quantities that Nsight Compute has no name for:
///   kernelskill__barriers.sum               block-wide barriers passed, over all blocks
///   kernelskill__warp_operations.sum        shuffles, votes and warp barriers
///   kernelskill__atomic_serializations.sum  rounds that atomics need: most lanes on one address,
///   over requests kernelskill__atomic_lanes.sum           atomics, one for each lane
///   kernelskill__global_unique_bytes_ld.sum distinct bytes of buffers read, in whole sectors:
///   least DRAM traffic kernelskill__global_unique_bytes_st.sum distinct bytes written
/// Instructions are those the emulator sees (accesses and basic blocks), so
/// smsp__thread_inst_executed_per_inst_executed is an estimate.
[[nodiscard]] Metrics namedMetrics(const Counters& counters);

} // namespace kernelskill::engine::emulator
