/// What becomes of a kernel's variables when its statements are done for several parts in turn:
/// which live in arrays with an element for each part, which are worked out again, and which
/// declarations move.
#pragma once

#include "skills/block-coarsening/statement_roles.h"

#include <cstdint>
#include <set>
#include <vector>

namespace kernelskill::skills {

struct RunLocals {
    /// Declarations among the run's statements that move ahead of it, in order.
    std::vector<analysis::StmtId> ahead;
    /// Declarations of other runs that are repeated at its beginning, in order.
    std::vector<analysis::StmtId> again;
    /// Declarations of the run with a value whose variable lives in an array that stands ahead of
    /// the run.
    std::vector<analysis::StmtId> split;
};

struct PartLocals {
    std::vector<RunLocals> runs; ///< In the order of StatementRoles::runs().
    std::vector<analysis::VariableId>
        kept; ///< Those with an element for each part, shared ones too.
};

/// Refuses with `changed-parameter`, `declaration-form`, `from-macro` or `hidden-use` where a
/// variable cannot be given an element for each part.
[[nodiscard]] Gated<PartLocals> partLocals(const SkillContext& context,
                                           const StatementRoles& roles);

/// The type of a kept local as its array declares it: without `const`, and never `auto`.
[[nodiscard]] std::string keptType(const analysis::Variable& variable);

} // namespace kernelskill::skills
