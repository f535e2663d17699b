/// Statements that fold into a variable, as text has them.
#pragma once

#include "analysis/queries/code_map.h"

#include <string>

namespace kernelskill::skills {

/// "+", "*", "&", "|", "^", "min" or "max" where the expression combines its two operands by one of
/// them; else empty.
[[nodiscard]] std::string combiningOperator(const analysis::Expr& expr);

/// The operator by which the statement around `use` folds into `variable` and uses it for nothing
/// else: `v += e;`, `v = fmaxf(v, e);`, `if (e > v) v = e;`. A difference is a sum. Empty if it
/// does not.
[[nodiscard]] std::string foldOperatorAt(const analysis::CodeMap& code, analysis::ExprId use,
                                         analysis::VariableId variable);

} // namespace kernelskill::skills
