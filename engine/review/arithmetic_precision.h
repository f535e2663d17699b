/// The precision that a kernel computes in, which may be more than that of what it stores.
#pragma once

#include "analysis/model/kernel_model.h"

namespace kernelskill::engine {

/// Whether all floating-point arithmetic in the kernel's own text is in float or double: numbers of
/// 16 bits are loaded, moved, converted and stored, and nothing is computed in them. False where
/// types depend on template parameters.
[[nodiscard]] bool computesInFullPrecision(const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
