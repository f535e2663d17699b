/// One step of a tree: what folds another thread's element into a thread's own.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/queries/code_map.h"

#include <optional>
#include <string>

namespace kernelskill::skills {

enum class FoldKind : std::uint8_t { Sum, Product, Minimum, Maximum, BitAnd, BitOr, BitXor };

/// One array that a step of the tree folds: `a[tid] = fold(a[tid], a[tid + s])`.
struct FoldedArray {
    analysis::VariableId array = analysis::noId;
    FoldKind fold = FoldKind::Sum;
    std::string function; ///< "fmaxf" as written; empty for an operator or a comparison.
};

/// The fold that `stmt` is, of the element at `own` and the one `stride` further on of a
/// one-dimensional shared array: an assignment, a call of min or max, or a comparison that guards
/// an assignment. nullopt for anything else.
[[nodiscard]] std::optional<FoldedArray> foldOf(const analysis::CodeMap& code,
                                                analysis::StmtId stmt,
                                                const analysis::IndexExpression& own,
                                                const analysis::IndexExpression& stride);

} // namespace kernelskill::skills
