/// Values that are the same wherever they stand in a kernel.
#pragma once

#include "analysis/queries/code_map.h"

namespace kernelskill::skills {

/// Whether `value` is arithmetic on numbers, positions and variables that are never written.
[[nodiscard]] bool isFixedValue(const analysis::CodeMap& code, analysis::ExprId value);

} // namespace kernelskill::skills
