/// Work that depends on weights alone: it is done once, before the first run.
#pragma once

#include "analysis/raise/program.h"

#include <cstddef>
#include <vector>

namespace kernelskill::analysis::raise {

/// Whether each step can run before any input is known: it reads nothing but weights and what such
/// steps write, it depends on no size that is known only when the program runs, and it writes no
/// output. A library's work is never among them.
[[nodiscard]] std::vector<bool> dependsOnWeightsAlone(const Program& program);

/// The numbers of those steps, in their order.
[[nodiscard]] std::vector<std::size_t> stepsOfWeightsAlone(const Program& program);

/// Whether a size that is known only when the program runs stands in the value.
[[nodiscard]] bool hasSize(const Scalar& value);

} // namespace kernelskill::analysis::raise
