/// Checks that an edit of host code keeps what it passes to kernels and to the CUDA runtime.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/verdict/check_result.h"

#include <stop_token>

namespace kernelskill::engine {

/// Whether the edit changes a function that launches kernels, or a call of the CUDA runtime
/// elsewhere. Trials run one kernel on data of their own: they do not show which data the host
/// passes.
[[nodiscard]] bool changesHostCode(const analysis::FileModel& before,
                                   const analysis::FileModel& after);

/// Follows each function that launches kernels and is changed, but for those that checkHostOrder()
/// follows, before and after, as it does. Launches must pass the same pointers for parameters of
/// the same name, and copies and other calls must have the same arguments, in orders with the same
/// effect. Calls that make a grid or block of numbers may have other numbers with it. Numbers and
/// configurations of launches are not compared, as trials evaluate them; nor sizes of allocations;
/// nor, where a configuration changes, other numbers. Where the original cannot be followed, and
/// outside of such functions, arguments must be the same as written. The result means nothing if
/// `stop` is requested.
[[nodiscard]] CheckResult checkHostArguments(const analysis::FileModel& before,
                                             const analysis::FileModel& after,
                                             const std::stop_token& stop = {});

} // namespace kernelskill::engine
