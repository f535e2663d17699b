/// Tells the scalar rest of vectorised code from code that is scalar.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>

namespace kernelskill::analysis {

/// The wider access of the same memory that takes the place of `access` wherever its condition
/// holds: in the other branch of an `if`, or before a return that leaves the rest to `access`. What
/// then remains is less than one wide element, or memory that is not aligned. nullopt when there is
/// no such access. Both are indices into KernelModel::accesses.
[[nodiscard]] std::optional<std::uint32_t> widerAlternative(const KernelModel& kernel,
                                                            std::uint32_t access);

} // namespace kernelskill::analysis
