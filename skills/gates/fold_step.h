/// Reads one step of a tree reduction, in which a thread folds another's element into its own.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/gates/fold_kind.h"

#include <functional>
#include <optional>
#include <string>

namespace kernelskill::skills {

/// One array that a step of the tree folds: `a[tid] = fold(a[tid], a[tid + s])`.
struct FoldedArray {
    analysis::VariableId array = analysis::noId;
    FoldKind fold = FoldKind::Sum;
    std::string function; ///< "fmaxf" as written; empty for an operator or a comparison.
};

/// Tell whether an index is that of a thread's own element, or of the one that it folds into its
/// own.
struct FoldPlaces {
    std::function<bool(analysis::ExprId)> isOwn;
    std::function<bool(analysis::ExprId)> isOther;
};

/// Returns how `stmt` folds one element of a one-dimensional shared array into another: by an
/// operator, by a call of min or max, or by a comparison that guards an assignment. nullopt if it
/// does anything else.
[[nodiscard]] std::optional<FoldedArray> foldOf(const analysis::CodeMap& code,
                                                analysis::StmtId stmt, const FoldPlaces& places);

} // namespace kernelskill::skills
