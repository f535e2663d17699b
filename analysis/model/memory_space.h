/// The address space that a variable's memory lies in.
#pragma once

#include "analysis/model/kernel_model.h"

namespace kernelskill::analysis {

/// A pointer parameter's memory is global; a pointer that the function declares may point anywhere
/// and is Generic; every other local variable, arrays among them, is Local.
[[nodiscard]] MemorySpace memorySpaceOf(const Variable& variable);

} // namespace kernelskill::analysis
