/// Writes the condition under which the loops of a nest do not run, as C++.
#pragma once

#include "engine/generate/parallel_nest.h"

#include <string>

namespace kernelskill::engine {

/// `n <= 0 || m <= 0`; empty if they always run.
[[nodiscard]] std::string nothingToDo(const analysis::FunctionBody& body, const ParallelNest& nest);
/// The opposite: `n > 0 && m > 0`.
[[nodiscard]] std::string somethingToDo(const analysis::FunctionBody& body,
                                        const ParallelNest& nest);

} // namespace kernelskill::engine
