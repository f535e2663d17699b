/// One step of a tree: what folds another thread's element into a thread's own.
#pragma once

#include "analysis/queries/code_map.h"

#include <functional>
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

/// Whether an index is that of a thread's own element, or of the one that it folds into it.
struct FoldPlaces {
    std::function<bool(analysis::ExprId)> isOwn;
    std::function<bool(analysis::ExprId)> isOther;
};

/// The fold that `stmt` is, of two elements of a one-dimensional shared array: an assignment, a
/// call of min or max, or a comparison that guards an assignment. nullopt for anything else.
[[nodiscard]] std::optional<FoldedArray> foldOf(const analysis::CodeMap& code,
                                                analysis::StmtId stmt, const FoldPlaces& places);

} // namespace kernelskill::skills
