/// Where a thread can take several rows, and what they would share.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/guarded_work.h"
#include "skills/base/skill.h"

#include <expected>
#include <set>
#include <vector>

namespace kernelskill::skills {

/// One comparison of the condition under which a thread works, as it reads there.
struct GuardPart {
    analysis::ExprId expr = analysis::noId;
    /// The comparison that holds where the kernel goes on; empty: the text as it is.
    std::string_view op;
    bool isUpperBound = false; ///< A bound from above: the last row decides. Else the first does.
};

struct CoarseningPlan {
    int rows = 0;                              ///< A thread would take.
    analysis::VariableId row = analysis::noId; ///< blockIdx.y * blockDim.y + threadIdx.y
    analysis::GuardedWork guarded;
    std::vector<GuardPart> guard;           ///< All have to hold.
    std::set<analysis::VariableId> varying; ///< Locals of the work that each row needs.
    std::set<analysis::StmtId> commonLoops; ///< Go round alike for all rows.
    double loadsBefore = 0; ///< For `rows` results, a load in a loop weighed by 16 rounds.
    double loadsAfter = 0;
};

/// Refuses with the first gate that does not hold, see SKILL.md.
[[nodiscard]] Gated<CoarseningPlan> planCoarsening(const SkillContext& context,
                                                   const analysis::CodeMap& code);

} // namespace kernelskill::skills
