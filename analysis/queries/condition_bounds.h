/// Finds what the conditions around a place in a kernel say about variables there.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/syntax/syntax.h"

#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// A comparison that holds: `variable op limit`.
struct ConditionBound {
    VariableId variable = noId;
    std::string_view op; ///< "<", "<=", ">" or ">="
    ExprId limit = noId;
};

/// The comparisons that held when the code came to `use`: those of the `if` around it, and of
/// earlier ones that left otherwise (`if (i >= n) return;`). Variables may have changed since.
[[nodiscard]] std::vector<ConditionBound> boundsAround(const CodeMap& code, ExprId use);

} // namespace kernelskill::analysis
