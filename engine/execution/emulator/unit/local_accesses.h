/// Finds where a kernel indexes arrays that are each thread's own.
#pragma once

#include "engine/execution/emulator/unit/guarded_arrays.h"
#include "engine/execution/kernel_ref.h"
#include "engine/unit/slice.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {

/// Files by path, with lines from 1 on.
using FileLines = std::set<std::pair<std::string, std::uint32_t>>;

/// The lines of `program`, in kernels and device functions, that index an array which is a local
/// variable.
[[nodiscard]] FileLines localAccesses(KernelRef kernel, const ScannedProgram& program);

/// The arrays of a thread's own that kernels and device functions in `file` of `program` use as
/// pointers, whole or in part, with the lines that declare them.
[[nodiscard]] DeclaredNames pointedArrays(KernelRef kernel, const ScannedProgram::File& file);

/// Whether a kernel or device function of the file uses an array of its own, or a part of one, as a
/// pointer: `p = a`, `sort(a)`, `&a[1]`.
[[nodiscard]] bool pointsIntoLocals(KernelRef kernel);

} // namespace kernelskill::engine
