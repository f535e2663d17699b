/// Chooses the kernels of a program and their schedules.
#pragma once

#include "engine/graph/kernels/contraction_schedule.h"
#include "engine/graph/kernels/kernel.h"

#include <variant>
#include <vector>

namespace kernelskill::engine::graph {

/// Kernels and nodes that are left to a library, in an order in which they can run. Names of
/// kernels are unique.
[[nodiscard]] std::vector<std::variant<Kernel, analysis::raise::LibraryCall>>
kernelsOf(const analysis::raise::Program& program, const KernelOptions& options);

} // namespace kernelskill::engine::graph
