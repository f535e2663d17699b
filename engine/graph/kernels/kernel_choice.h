/// Which kernels a program runs as, and by which schedules.
#pragma once

#include "engine/graph/kernels/kernel.h"

#include <variant>
#include <vector>

namespace kernelskill::engine::graph {

/// Kernels and nodes that are left to a library, in an order in which they can run. Names of
/// kernels are unique.
[[nodiscard]] std::vector<std::variant<Kernel, analysis::raise::LibraryCall>>
kernelsOf(const analysis::raise::Program& program);

} // namespace kernelskill::engine::graph
