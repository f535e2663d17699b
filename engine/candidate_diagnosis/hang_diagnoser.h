/// Diagnoser of kernels that do not end: which loop goes on for ever, and what it waits for.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/error.h"

namespace kernelskill::engine {

/// `error`, which a run of `kernel` ended with. If it was cut off in a loop, what the code says of
/// that loop comes first: that nothing in it changes its condition, or what it waits for and who
/// writes that. Other errors are returned as they are.
[[nodiscard]] Error withHangDiagnosis(const analysis::FileModel& file,
                                      const analysis::KernelModel& kernel, Error error);

} // namespace kernelskill::engine
