/// The bounds checks that decide which threads of a row of a block have a record.
#pragma once

#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// `position < limit`, where neighbours along x have neighbouring positions.
struct RecordBound {
    analysis::VariableId position = analysis::noId;
    analysis::ExprId limit = analysis::noId; ///< The same for all threads.
};

/// A condition that all threads of a row share.
struct RowClause {
    analysis::ExprId condition =
        analysis::noId; ///< The condition as written: it, or its negation, has to hold.
    std::string text;   ///< The text of what has to hold.
};

struct RowGuard {
    std::vector<analysis::StmtId> exits;  ///< `if (i >= n) return;` of the outermost block.
    std::vector<analysis::StmtId> blocks; ///< `if (i < n) ...` around the work, all alike.
    std::vector<RecordBound> bounds;
    std::vector<RowClause> clauses;

    /// Whether the statement is one of the checks.
    [[nodiscard]] bool holds(analysis::StmtId statement) const;
    /// The first of the checks; noId: there are none.
    [[nodiscard]] analysis::StmtId first(const analysis::FunctionBody& body) const;
};

/// Reads the checks around `work`, statements of the kernel's outermost block. A condition around
/// them that is no bounds check is not part of the guard. Refuses with `guard` where threads leave
/// the kernel before the work for another reason.
[[nodiscard]] Gated<RowGuard> rowGuard(const SkillContext& context,
                                       const std::vector<analysis::StmtId>& work);

/// The polynomial less a thread's part of it; nullopt where it is not `factor` times threadIdx.x
/// and something that all threads of a row share.
[[nodiscard]] std::optional<analysis::IndexExpression>
rowBegin(const analysis::IndexExpression& polynomial, std::int64_t factor);

} // namespace kernelskill::skills
