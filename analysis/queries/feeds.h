/// Where a value goes: into the initial value of one variable and nowhere else.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

/// Whether `use` is a part of the initial value of `variable`, or of locals that are never written
/// and go there alone, up to four of them in a chain. True for code that the tree does not have.
[[nodiscard]] bool onlyFeeds(const CodeMap& code, ExprId use, VariableId variable);

} // namespace kernelskill::analysis
