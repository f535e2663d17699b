/// Parameters that are lengths by what a kernel does with them, whatever their names.
#pragma once

#include "engine/inputs/kernel_text.h"
#include "engine/inputs/program_text.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// For each parameter the length, in elements, to use where nothing tells its value; nullopt for
/// those that are no lengths. A length is what a loop counts up to, in the kernel or a function
/// that it calls, what the position of a thread or block stays below, and what lies between the
/// rows of an array. The kernel is of `file`; `text` is the kernel's, or null.
[[nodiscard]] std::vector<std::optional<std::int64_t>>
lengthsByUse(const analysis::FileModel& file, const analysis::KernelModel& kernel,
             const ProgramText& program, const KernelText* text);

} // namespace kernelskill::engine
