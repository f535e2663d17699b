/// Where a thread can take several rows, and what they would share.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/thread-coarsening/row_choices.h"
#include "skills/thread-coarsening/row_work.h"
#include "skills/thread-coarsening/shared_loads.h"

#include <expected>
#include <optional>
#include <set>
#include <vector>

namespace kernelskill::skills {

/// A number of rows that a thread can take.
struct RowCount {
    int rows = 0;
    SharedLoads loads;
};

struct CoarseningPlan {
    std::vector<RowCount> counts; ///< The one that is shown first.
    /// A number of rows that share next to nothing; set if `counts` is empty. Their loads can be
    /// under way together all the same.
    std::optional<RowCount> apart;
    std::optional<Refusal> refusal; ///< Why `counts` is empty.
    analysis::FunctionBody body;    ///< The kernel's, see withInitialRows().
    RowWork work;
    InnerWork inner;                          ///< The work of rows away from the edges,
    std::vector<analysis::StmtId> statements; ///< and its statements.
    std::set<analysis::VariableId> varying;   ///< Locals of the work that each row needs.
    std::set<analysis::StmtId> commonLoops;   ///< Go round alike for all rows.
};

/// Refuses with the first gate that does not hold, see SKILL.md.
[[nodiscard]] Gated<CoarseningPlan> planCoarsening(const SkillContext& context);

} // namespace kernelskill::skills
