/// Index arithmetic by the numbers of threads in the grid.
#pragma once

#include "analysis/model/index_expression.h"

#include <cstdint>

namespace kernelskill::skills {

/// `expression` with threadIdx of the axis = number - width * blockIdx, where `number` is the
/// thread's number along the axis of the grid.
[[nodiscard]] analysis::IndexExpression byNumber(const analysis::IndexExpression& expression,
                                                 std::uint32_t axis,
                                                 const analysis::IndexExpression& width);

/// Asks, along the axis, for numbers of threads and of all threads of the grid alone. For what
/// byNumber() gives.
[[nodiscard]] bool isByNumberAlone(const analysis::IndexExpression& expression, std::uint32_t axis);

} // namespace kernelskill::skills
