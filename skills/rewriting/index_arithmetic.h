/// Index arithmetic of an expression as a polynomial, with locals replaced by their definitions.
#pragma once

#include "analysis/model/index_expression.h"
#include "skills/rewriting/code_map.h"

#include <optional>

namespace kernelskill::skills {

/// An int, a long, or an unsigned one of them: what an index is counted in.
[[nodiscard]] bool isIndexType(const analysis::Type& type);
[[nodiscard]] bool isUnsignedIndexType(const analysis::Type& type);

/// nullopt when the expression is not a polynomial of thread, block and loop indices, parameters
/// and variables. A variable that changes is a symbol of its own.
[[nodiscard]] std::optional<analysis::IndexExpression> polynomialOf(const CodeMap& code,
                                                                    analysis::ExprId expr);

/// blockIdx.x * blockDim.x + threadIdx.x
[[nodiscard]] analysis::IndexExpression flatThreadIndex();
/// blockDim.x * gridDim.x
[[nodiscard]] analysis::IndexExpression flatThreadCount();

/// True if every thread of the launch sees the same value: made of constants, parameters that never
/// change, constant variables and blockDim / gridDim; no memory is read and nothing is called.
[[nodiscard]] bool isUniformInput(const CodeMap& code, analysis::ExprId expr);

} // namespace kernelskill::skills
