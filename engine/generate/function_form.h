/// Checks that a host function has only elements that kernels can be written from.
#pragma once

#include "analysis/model/kernel_model.h"
#include "skills/base/skill.h"

#include <expected>

namespace kernelskill::engine {

/// Checks parameters, statements, variables and calls. Refuses with the first one that a kernel
/// cannot have.
[[nodiscard]] std::expected<void, skills::Refusal> checkForm(const analysis::FileModel& file,
                                                             const analysis::KernelModel& function);

/// Whether the type is one number or a pointer to numbers; vectors and classes are not.
[[nodiscard]] bool isNumber(const analysis::Type& type);

} // namespace kernelskill::engine
