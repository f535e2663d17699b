/// Conditions within the work that are decided away from the edges, and the work as it is there.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/thread-coarsening/row_work.h"

#include <map>
#include <vector>

namespace kernelskill::skills {

/// The work of rows that are neither the first nor the last ones.
struct InnerWork {
    analysis::FunctionBody body; ///< The kernel's, with the choices made. Ids are kept.
    /// All have to hold, the kernel's own bounds first; then they do for all rows of a thread.
    std::vector<RowCondition> conditions;
    /// An expression with a choice, and the part of it that is taken.
    std::map<analysis::ExprId, analysis::ExprId> taken;
    /// An `if` with a choice, and its branch that is taken; noId: none.
    std::map<analysis::StmtId, analysis::StmtId> branches;
};

/// Decides `row == 0`, `row > 0`, `max(row - 1, 0)`, `row < h - 1`, `min(row + 1, h - 1)` and the
/// like, as they are for most rows.
[[nodiscard]] InnerWork innerWork(const SkillContext& context, const analysis::CodeMap& code,
                                  const RowWork& work);

} // namespace kernelskill::skills
