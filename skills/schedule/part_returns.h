/// Returns of a kernel whose statements run for several parts in turn: one may end its part's turn
/// in the last run, and nothing else.
#pragma once

#include "skills/schedule/statement_roles.h"

#include <vector>

namespace kernelskill::skills {

/// Returns those in runs, which become `continue`. Refuses with `early-return` where parts that
/// leave would be missing at a barrier, or leave from within a loop.
[[nodiscard]] Gated<std::vector<analysis::StmtId>> lastReturns(const SkillContext& context,
                                                               const StatementRoles& roles);

} // namespace kernelskill::skills
