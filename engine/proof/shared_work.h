/// Edits that share a kernel's work out to its threads in another way: a thread does what several
/// threads of the original do, or other rounds of a loop over the grid.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/proof/proof.h"

#include <stop_token>

namespace kernelskill::engine {

/// Requires that the original does something for each number from 0 on: a thread for its own
/// number, or the threads in a loop over the grid; and that the candidate does the same for each of
/// them once, whichever thread does it and in whichever order. Threads share nothing but memory.
///
/// No order matters if each number has a thread of its own in the original, which has no data race.
/// Else addresses, or conditions on the parameters, keep apart what is done for two numbers.
[[nodiscard]] Proof proveSharedWork(KernelRef original, KernelRef candidate, bool changesLaunches,
                                    const std::stop_token& stop);

} // namespace kernelskill::engine
