/// Searches of the largest or smallest few values, with the places where they stand.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// `if (value > first) { second = first; first = value; } else if (value > second) second = value;`
/// in a loop that uses first and second for nothing else, and before which they are equal.
struct RankedFold {
    analysis::StmtId statement = analysis::noId; ///< The first if.
    std::vector<analysis::VariableId> best;      ///< The best one first; two to four.
    /// The place of each, which the loop's iterator says; empty: places are not asked for.
    std::vector<analysis::VariableId> places;
    bool isLargest = true; ///< Else the smallest values are the best.
};

[[nodiscard]] bool isPartOf(const RankedFold& fold, analysis::VariableId variable);

/// Finds the searches of a loop whose rounds `iterator` counts upwards.
[[nodiscard]] std::vector<RankedFold>
rankedFolds(const analysis::CodeMap& code, analysis::StmtId loop, analysis::VariableId iterator);

} // namespace kernelskill::skills
