/// Expressions and statements that fold a value into another, as programs write them.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"

#include <optional>
#include <string>

namespace kernelskill::skills {

/// Returns "+", "*", "&", "|", "^", "min" or "max" if the expression combines its two operands by
/// one of them; else empty.
[[nodiscard]] std::string combiningOperator(const analysis::Expr& expr);

/// Returns the operator by which the statement around `use` folds into `variable` and uses it for
/// nothing else: `v += e;`, `v = fmaxf(v, e);`, `if (e > v) v = e;`. A difference is a sum. Empty
/// if it does not.
[[nodiscard]] std::string foldOperatorAt(const analysis::CodeMap& code, analysis::ExprId use,
                                         analysis::VariableId variable);

/// The operands of one operator, one of which was taken away.
struct RemainingOperands {
    std::string op;   ///< Empty if the operand was the whole expression.
    std::string text; ///< The other operands, combined.
};

/// Takes the operand `taken` out of an expression of one operator, such as `a[i - 1]` out of
/// `a[i - 1] + x + y`. nullopt if another operator is on the way to it, or if it is there twice.
[[nodiscard]] std::optional<RemainingOperands> operandsWithout(const analysis::CodeMap& code,
                                                               const analysis::SourceText& source,
                                                               analysis::ExprId whole,
                                                               analysis::ExprId taken);

} // namespace kernelskill::skills
