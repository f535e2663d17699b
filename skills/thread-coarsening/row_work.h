/// A kernel's work on one row: the row's index, the bounds it stands under, and the statements.
/// Rows are neighbours along an axis of the grid.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/thread-coarsening/row_conditions.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// One condition under which a thread works.
struct RowBound {
    analysis::ExprId expr = analysis::noId;
    bool isNegated = false;             ///< An early return's: it must not hold.
    std::optional<RowComparison> onRow; ///< As it has to hold; nullopt: alike for all rows.
};

struct RowWork {
    std::uint8_t axis = 1; ///< The one along which the row's index counts.
    analysis::VariableId row = analysis::noId;
    /// A row further on is one more of it: threadIdx along the axis, or blockIdx where each block
    /// has one row.
    analysis::Symbol step;
    analysis::ExprId base = analysis::noId; ///< The row's initialiser less a constant.
    std::vector<analysis::StmtId> guards;   ///< Outermost, or one behind the other.
    std::vector<RowBound> bounds;           ///< All have to hold.
    std::vector<analysis::StmtId> moved;    ///< The part of `work` before the guards.
    std::vector<analysis::StmtId> work;     ///< In order, with `moved`.
    [[nodiscard]] bool isBoundedAbove() const;
};

/// Whether a variable's name stands in the text where it is used, also as a macro's argument.
[[nodiscard]] bool isWrittenOut(const analysis::SourceText& source,
                                const analysis::FunctionBody& body, analysis::ExprId use);

/// The bound as the kernel asks for it, of one row.
[[nodiscard]] RowTest testOf(const analysis::CodeMap& code, const RowBound& bound);

/// The kernel as work on rows along the axis. Refuses with `no-rows`, `no-bounds-guard`,
/// `compound-guard`, `uses-thread-position`, `row-used-elsewhere`, `work-before-guard`,
/// `from-macro`, and what requireIndependentWork() and editableBlockPositions() refuse.
[[nodiscard]] Gated<RowWork> findRowWork(const SkillContext& context, const analysis::CodeMap& code,
                                         std::uint8_t axis);

} // namespace kernelskill::skills
