/// The max block whose threads stay inside a kernel's shared arrays.
#pragma once

#include "analysis/model/kernel_model.h"

#include <array>
#include <cstdint>

namespace kernelskill::engine {

/// `block`, cut down along each axis to the constant extents of the `__shared__` arrays that this
/// thread index subscripts without a condition.
[[nodiscard]] std::array<std::int64_t, 3> fittedToShared(const analysis::KernelModel& kernel,
                                                         std::array<std::int64_t, 3> block);

} // namespace kernelskill::engine
