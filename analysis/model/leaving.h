/// Statements that do not come to their end.
#pragma once

#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

/// Whether the code behind the statement does not run if the statement does: it ends with `return`,
/// `break`, `continue` or `goto`, in both branches if it is an `if`.
[[nodiscard]] bool leaves(const FunctionBody& body, StmtId statement);

} // namespace kernelskill::analysis
