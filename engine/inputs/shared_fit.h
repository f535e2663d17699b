/// The largest block whose threads stay inside of a kernel's shared arrays.
#pragma once

#include "analysis/model/kernel_model.h"

#include <array>
#include <cstdint>

namespace kernelskill::engine {

/// `block`, cut down along each axis to what constant extents of `__shared__` arrays allow that are
/// subscripted by that thread index without a condition.
[[nodiscard]] std::array<std::int64_t, 3> fittedToShared(const analysis::KernelModel& kernel,
                                                         std::array<std::int64_t, 3> block);

} // namespace kernelskill::engine
