/// Diagnoses kernels that do not end: which loop never ends, and what it waits for.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/error.h"

namespace kernelskill::engine {

/// `error` is the error of a run of `kernel`. If the run was cut off in a loop, the result begins
/// with what the code tells about that loop: that nothing in it changes its condition, or what it
/// waits for and which code writes that. Other errors are returned unchanged.
[[nodiscard]] Error withHangDiagnosis(const analysis::FileModel& file,
                                      const analysis::KernelModel& kernel, Error error);

} // namespace kernelskill::engine
