/// Finds constant grid and block sizes in the text.
#pragma once

#include "analysis/syntax/syntax.h"

#include <cstdint>
#include <vector>

namespace kernelskill::analysis {

/// The x, y, z of the dim3 expression `dimensions` in `host`; 0 on an axis that is not constant.
/// Empty if no axis is.
[[nodiscard]] std::vector<std::int64_t> constantDimensions(const FunctionBody& host,
                                                           ExprId dimensions);

} // namespace kernelskill::analysis
