/// The functions of a file that a kernel consists of.
#pragma once

#include "analysis/model/kernel_model.h"

#include <vector>

namespace kernelskill::engine {

/// The kernel and the functions of its file that it calls.
[[nodiscard]] std::vector<const analysis::KernelModel*> codeOf(const analysis::FileModel& file,
                                                               const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
