/// Grid and block sizes that can be told from the text alone.
#pragma once

#include "analysis/syntax/syntax.h"

#include <cstdint>
#include <vector>

namespace kernelskill::analysis {

/// x, y, z of the dim3 expression `dimensions` of `host`; 0 on an axis that is not constant. Empty
/// when nothing is.
[[nodiscard]] std::vector<std::int64_t> constantDimensions(const FunctionBody& host,
                                                           ExprId dimensions);

} // namespace kernelskill::analysis
