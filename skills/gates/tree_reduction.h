/// Recognises the block-wide tree reduction in shared memory, in the forms that people write.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/fold_step.h"
#include "skills/gates/power_stride.h"

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct TreeReduction {
    std::uint32_t loop = analysis::noId;          ///< Index into KernelModel::loops.
    analysis::VariableId stride = analysis::noId; ///< `s`
    StrideChange change = StrideChange::Halving;
    analysis::ExprId start = analysis::noId;   ///< The stride's first value.
    analysis::ExprId advance = analysis::noId; ///< `s *= 2`
    analysis::ExprId limit = analysis::noId;   ///< Of a stride that doubles: the extent.
    analysis::StmtId guard = analysis::noId;   ///< `if (tid < s)` with the steps.
    std::string thread; ///< How the kernel spells threadIdx.x here, e.g. "tid".
    FoldPlaces places;  ///< Lives as long as the kernel's map.
    std::vector<FoldedArray> arrays;
    bool startsWithBarrier = false; ///< The barrier comes before the step, not after it.
    bool countsPairs =
        false;             ///< The stride is twice the distance of the elements: `a[tid + s / 2]`.
    bool endsLast = false; ///< `a[tid - s]` is folded: the last element has the result.
    SpannedThreads extent;
    analysis::IndexExpression threads; ///< The extent as a polynomial.
};

/// The tree that loop `index` is, also where its stride is a variable that several loops set.
/// Refuses with what is different: `not-a-tree`, `partial-tree`, `guarded-tree`, `not-a-fold`,
/// `two-dimensional`, `from-macro`.
[[nodiscard]] Gated<TreeReduction>
recogniseTree(const SkillContext& context, const analysis::CodeMap& code, std::uint32_t index);

} // namespace kernelskill::skills
