/// Launches of one kernel with other grids and blocks.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/proof/proof.h"

#include <expected>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Requires that the kernel, which is the same in both, does the same in the changed launches: what
/// a thread does follows from its number in the grid alone, threads share nothing, and both grids
/// have a thread for each number at which one does anything. Returns the conditions.
[[nodiscard]] std::expected<std::vector<std::string>, Unproved>
proveLaunches(KernelRef original, KernelRef candidate, const std::stop_token& stop);

} // namespace kernelskill::engine
