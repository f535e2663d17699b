/// Recognises the block-wide tree reduction in shared memory, in the forms that people write.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/block_collective.h"
#include "skills/warp-shuffle-reduction/fold_step.h"

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct TreeReduction {
    std::uint32_t loop = analysis::noId;          ///< Index into KernelModel::loops.
    analysis::VariableId stride = analysis::noId; ///< `s`
    std::string thread; ///< How the kernel spells threadIdx.x here, e.g. "tid".
    std::vector<FoldedArray> arrays;
    bool startsWithBarrier = false; ///< The barrier comes before the step, not after it.
    SpannedThreads extent;
};

/// The tree that loop `index` is. Refuses with what is different: `not-a-tree`, `partial-tree`,
/// `guarded-tree`, `not-a-fold`, `two-dimensional`, `from-macro`.
[[nodiscard]] Gated<TreeReduction>
recogniseTree(const SkillContext& context, const analysis::CodeMap& code, std::uint32_t index);

} // namespace kernelskill::skills
