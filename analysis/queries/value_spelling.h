/// Types as code spells them.
#pragma once

#include "analysis/syntax/syntax.h"

#include <string>

namespace kernelskill::analysis {

/// How a local is declared that holds a value of this type: without const and volatile.
[[nodiscard]] std::string valueSpelling(const Type& type);

} // namespace kernelskill::analysis
