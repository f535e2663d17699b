/// Where code computes with the address in a pointer.
#pragma once

#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

/// True if the expression makes a number of a pointer: `reinterpret_cast<size_t>(p)`.
[[nodiscard]] bool isAddressAsNumber(const FunctionBody& body, ExprId id);

} // namespace kernelskill::analysis
