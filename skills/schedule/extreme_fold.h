/// Searches of the largest or smallest value, with the place where it stands.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// `if (value > best) { best = value; place = i; }` in a loop over i that uses best and place for
/// nothing else. It may also skip the rest of the round, `if (!(value > best)) continue;`, or
/// choose both: `place = value > best ? i : place; best = value > best ? value : best;`.
struct ExtremeFold {
    analysis::VariableId best = analysis::noId;
    analysis::VariableId place = analysis::noId; ///< noId: the place is not asked for.
    /// The comparison that makes another value the best: ">", ">=", "<" or "<=".
    std::string comparison;
};

/// Those of the loop, whose rounds `iterator` counts upwards.
[[nodiscard]] std::vector<ExtremeFold>
extremeFolds(const analysis::CodeMap& code, analysis::StmtId loop, analysis::VariableId iterator);

} // namespace kernelskill::skills
