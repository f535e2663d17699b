/// Extents of programs as indices of raised ones, and back.
#pragma once

#include "analysis/raise/index.h"
#include "engine/graph/extent_expression.h"
#include "engine/graph/program.h"

#include <string>

namespace kernelskill::engine::graph {

/// The index that an expression is; symbols have the program's ranges. NotRaised is thrown for what
/// is no sum, product or quotient whatever the symbols are: a minimum of two that either may be.
[[nodiscard]] analysis::raise::Index indexOf(const ExtentExpression& expression,
                                             const Program& program);

/// The text of an index over sizes, which parseExtent() reads: "(s77 + 1)//2".
[[nodiscard]] std::string expressionText(const analysis::raise::Index& index);

} // namespace kernelskill::engine::graph
