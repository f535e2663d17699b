/// Sums of the text without one of their addends.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// The rest of a sum without one addend.
struct SumRest {
    std::string text; ///< Empty: nothing.
    std::vector<analysis::ExprId> parts;
};

/// The sum `expr` without the one addend for which `isIt` holds. nullopt where none is added, and
/// where the rest may wrap around although the sum does not.
[[nodiscard]] std::optional<SumRest>
withoutAddend(const analysis::CodeMap& code, const analysis::SourceText& source,
              analysis::ExprId expr, const std::function<bool(analysis::ExprId)>& isIt);

} // namespace kernelskill::skills
