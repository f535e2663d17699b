/// Index arithmetic of an expression as a polynomial, with locals replaced by their definitions.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/queries/code_map.h"

#include <optional>

namespace kernelskill::analysis {

/// An int, a long, or an unsigned one of them: what an index is counted in.
[[nodiscard]] bool isIndexType(const Type& type);
[[nodiscard]] bool isUnsignedIndexType(const Type& type);

/// True for an integer of 64 bits, and for a pointer.
[[nodiscard]] bool hasPointerWidth(const Type& type);

/// nullopt when the expression is not a polynomial of thread, block and loop indices, parameters
/// and variables. A variable that changes is a symbol of its own.
[[nodiscard]] std::optional<IndexExpression> polynomialOf(const CodeMap& code, ExprId expr);

/// blockIdx.x * blockDim.x + threadIdx.x
[[nodiscard]] IndexExpression flatThreadIndex();
/// blockDim.x * gridDim.x
[[nodiscard]] IndexExpression flatThreadCount();

/// Literals, casts, choices, and operators that write nothing: the value follows from the
/// operands'.
[[nodiscard]] bool isPlainOperation(const Expr& expr);

/// True if every thread of the launch sees the same value: made of constants, parameters that never
/// change, constant variables and blockDim / gridDim; no memory is read and nothing is called.
[[nodiscard]] bool isUniformInput(const CodeMap& code, ExprId expr);

} // namespace kernelskill::analysis
