/// Whether a host function is made of what kernels can be written from.
#pragma once

#include "analysis/model/kernel_model.h"
#include "skills/base/skill.h"

#include <expected>

namespace kernelskill::engine {

/// Parameters, statements, variables and calls: refuses the first that a kernel cannot have.
[[nodiscard]] std::expected<void, skills::Refusal> checkForm(const analysis::FileModel& file,
                                                             const analysis::KernelModel& function);

/// One number, or where it points to such: neither a vector nor a class.
[[nodiscard]] bool isNumber(const analysis::Type& type);

} // namespace kernelskill::engine
