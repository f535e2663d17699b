/// Tells whether a value goes into the initial value of one variable and nowhere else.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

/// Whether `use` is a part of the initial value of `variable`, directly or through a chain of up to
/// four locals that are never written and go nowhere else. True if `use` is in no statement.
[[nodiscard]] bool onlyFeeds(const CodeMap& code, ExprId use, VariableId variable);

} // namespace kernelskill::analysis
