/// Reductions over a single element, as the element.
#pragma once

#include "analysis/raise/program.h"

namespace kernelskill::analysis::raise {

/// Computations whose reduced axes all have an extent of 1, and scans along such an axis, become
/// maps. One that finds a place finds 0.
[[nodiscard]] Program withoutUnitReductions(Program program);

} // namespace kernelskill::analysis::raise
