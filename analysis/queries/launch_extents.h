/// Grids and blocks that host code writes as constants.
#pragma once

#include "analysis/queries/code_map.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kernelskill::analysis {

/// Extents x, y, z.
using Extents = std::array<std::int64_t, 3>;

/// Grid or block of a launch when it is made of constants.
[[nodiscard]] std::optional<Extents> constantExtents(const CodeMap& host, ExprId expr);

/// Whether a grid or block is named as a whole: a variable or a member of type dim3.
[[nodiscard]] bool isDim3Name(const Expr& extents);

} // namespace kernelskill::analysis
