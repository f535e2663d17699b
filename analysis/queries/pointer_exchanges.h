/// Host code that exchanges two pointers, as loops over steps do with their old and new values.
#pragma once

#include "analysis/queries/code_map.h"

#include <vector>

namespace kernelskill::analysis {

/// Three statements `float* t = a; a = b; b = t;`, where nothing else uses t. Two pointers that
/// lead to different objects before them do so behind them.
struct PointerExchange {
    VariableId one = noId;
    VariableId other = noId;
    ExprId toOne = noId;   ///< `a = b`
    ExprId toOther = noId; ///< `b = t`
};

/// Returns all exchanges of the function, in the order of the source.
[[nodiscard]] std::vector<PointerExchange> pointerExchanges(const CodeMap& code);

} // namespace kernelskill::analysis
