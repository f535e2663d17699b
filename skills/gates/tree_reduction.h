/// Recognises the block-wide tree reduction in shared memory, in the forms that people write.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/fold_step.h"
#include "skills/gates/power_stride.h"

#include <functional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct TreeReduction {
    std::uint32_t loop = analysis::noId;          ///< Index into KernelModel::loops.
    analysis::VariableId stride = analysis::noId; ///< `s`
    StrideChange change = StrideChange::Halving;
    analysis::ExprId start = analysis::noId;   ///< The stride's first value.
    analysis::ExprId advance = analysis::noId; ///< `s *= 2`
    analysis::ExprId limit = analysis::noId;   ///< `n` of `s < n`; noId if the stride halves.
    analysis::StmtId guard = analysis::noId;   ///< `if (tid < s)` with the steps.
    std::string thread; ///< How the kernel spells threadIdx.x here, e.g. "tid".
    FoldPlaces places;  ///< Refers to the kernel's CodeMap.
    std::vector<FoldedArray> arrays;
    bool startsWithBarrier = false; ///< The barrier comes before the step, not after it.
    /// The stride is twice the distance of the elements: `a[tid + s / 2]`.
    bool countsPairs = false;
    bool endsLast = false;             ///< `a[tid - s]` is folded: the last element has the result.
    SpannedThreads extent;             ///< The number of threads that the tree spans.
    analysis::IndexExpression threads; ///< The same as a polynomial.
};

/// Reads loop `index` as a tree. Its stride may be a variable that the heads of several loops set.
/// Refuses with what is different: `not-a-tree`, `partial-tree`, `guarded-tree`, `not-a-fold`,
/// `two-dimensional`, `from-macro`.
[[nodiscard]] Gated<TreeReduction>
recogniseTree(const SkillContext& context, const analysis::CodeMap& code, std::uint32_t index);

/// Runs `study` on each loop, given by its index. Returns its result for the loop at the cursor,
/// else for the first that fits; where none fits, the refusal of the loop that is most like a tree.
/// Refuses with `no-loop` and what requireEditable() refuses.
[[nodiscard]] Gated<TreeReduction>
chooseTree(const SkillContext& context,
           const std::function<Gated<TreeReduction>(std::uint32_t loop)>& study);

/// Returns the names of the arrays that the tree folds: "sums, counts".
[[nodiscard]] std::string arrayNames(const analysis::FunctionBody& body, const TreeReduction& tree);

/// Returns whether results stay exact if the tree folds in another order: not sums and products of
/// floating-point values.
[[nodiscard]] Numerics numericsOf(const analysis::FunctionBody& body, const TreeReduction& tree);

} // namespace kernelskill::skills
