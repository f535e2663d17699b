/// Estimates the cost of computations, to decide which of them are fused. Only speed depends on
/// these numbers.
#pragma once

#include "analysis/raise/program.h"

#include <cstddef>
#include <vector>

namespace kernelskill::analysis::raise {

/// The value of an index without axes; sizes that are not known count as 64, or as their bound.
[[nodiscard]] double estimated(const Index& index);
[[nodiscard]] double estimatedElements(const std::vector<Index>& shape);
[[nodiscard]] double estimatedElements(const std::vector<Axis>& axes);
/// Operations and choices in a scalar, those that stand in several places once.
[[nodiscard]] std::size_t operationsIn(const Scalar& value);
[[nodiscard]] double estimatedBytes(const Buffer& buffer);

} // namespace kernelskill::analysis::raise
