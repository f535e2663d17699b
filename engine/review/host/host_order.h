/// Checks that an edit of host code keeps the work that it gives to the GPU, and its order.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/review/host/fused_launches.h"
#include "engine/verdict/check_result.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// The kernels whose launches stand for two launches of the other version.
struct ReplacedKernels {
    std::vector<FusedKernel> fused; ///< In the edit.
    std::vector<FusedKernel> split; ///< In the original.
};

/// Whether a function that launches kernels calls the CUDA runtime, or launches, elsewhere, more
/// often or less often than before, or in other loops or branches. Arguments and launch
/// configurations do not count.
[[nodiscard]] bool changesHostOrder(const analysis::FileModel& before,
                                    const analysis::FileModel& after);

/// The same of one function and its counterpart.
[[nodiscard]] bool changesHostOrder(const analysis::FileModel& before, std::uint32_t function,
                                    const analysis::FileModel& after, std::uint32_t counterpart);

/// Follows every function that changesHostOrder() is about, before and after, with the same values
/// for its parameters and for all that is not known. Both must launch the same kernels with the
/// same configurations and arguments in the same streams, and make the same other calls, in the
/// same order; the edit may wait for the GPU more often. Work of a graph counts when the graph is
/// launched, and a launch of a kernel that an edit fused, or split, as the two that it stands for.
/// Code that cannot be followed is no fault of the edit, and not accepted. The result means nothing
/// if `stop` is requested.
[[nodiscard]] CheckResult checkHostOrder(const analysis::FileModel& before,
                                         const analysis::FileModel& after,
                                         const ReplacedKernels& replaced = {},
                                         const std::stop_token& stop = {});

} // namespace kernelskill::engine
