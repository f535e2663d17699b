/// Distinguishes the scalar tail of vectorised code from scalar code.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>

namespace kernelskill::analysis {

/// The wider access of the same memory that replaces `access` wherever its condition holds: in the
/// other branch of an `if`, or before a return. What remains is less than one wide element, or
/// unaligned memory. nullopt if there is no such access. Both are indices into
/// KernelModel::accesses.
[[nodiscard]] std::optional<std::uint32_t> widerAlternative(const KernelModel& kernel,
                                                            std::uint32_t access);

} // namespace kernelskill::analysis
