/// Where a thread can take several rows, and what they would share.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/thread-coarsening/row_choices.h"
#include "skills/thread-coarsening/row_work.h"
#include "skills/thread-coarsening/shared_loads.h"

#include <expected>
#include <set>
#include <vector>

namespace kernelskill::skills {

struct CoarseningPlan {
    int rows = 0; ///< A thread would take.
    RowWork work;
    InnerWork inner;                          ///< The work of rows away from the edges,
    std::vector<analysis::StmtId> statements; ///< and its statements.
    std::set<analysis::VariableId> varying;   ///< Locals of the work that each row needs.
    std::set<analysis::StmtId> commonLoops;   ///< Go round alike for all rows.
    SharedLoads loads;
};

/// Refuses with the first gate that does not hold, see SKILL.md.
[[nodiscard]] Gated<CoarseningPlan> planCoarsening(const SkillContext& context,
                                                   const analysis::CodeMap& code);

} // namespace kernelskill::skills
