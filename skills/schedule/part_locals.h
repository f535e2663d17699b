/// Plans where a kernel's variables live when its statements run for several parts in turn: in
/// arrays with an element for each part, or worked out again for each run of statements. Some
/// declarations move.
#pragma once

#include "skills/schedule/statement_roles.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

struct RunLocals {
    /// Declarations among the run's statements that move ahead of it, in order.
    std::vector<analysis::StmtId> ahead;
    /// Declarations of other runs that are repeated at its beginning, in order.
    std::vector<analysis::StmtId> again;
    /// Declarations of the run that become assignments: an array ahead of the run holds the
    /// variable.
    std::vector<analysis::StmtId> split;
};

struct PartLocals {
    std::vector<RunLocals> runs; ///< In the order of StatementRoles::runs().
    /// The variables with an element for each part. Shared arrays are among them: those of warps
    /// have an element for each old block.
    std::vector<analysis::VariableId> kept;
    /// Those of `kept` that are declared outside of the rounds and set anew in each: they get an
    /// array of their own at the beginning of the rounds' block.
    std::vector<analysis::VariableId> own;
};

/// Refuses with `changed-parameter`, `declaration-form`, `from-macro` or `hidden-use` where a
/// variable cannot be given an element for each part; of rounds also with `carries-over` where one
/// round leaves a value to the next beyond a single run.
[[nodiscard]] Gated<PartLocals> partLocals(const SkillContext& context,
                                           const StatementRoles& roles);

/// The type of a kept local as its array declares it: without `const`, and never `auto`.
[[nodiscard]] std::string keptType(const analysis::Variable& variable);

} // namespace kernelskill::skills
