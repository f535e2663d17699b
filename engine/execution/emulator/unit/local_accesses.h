/// Finds where a kernel indexes arrays that are each thread's own.
#pragma once

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

} // namespace kernelskill::engine
