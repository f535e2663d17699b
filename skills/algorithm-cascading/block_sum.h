/// Kernels whose blocks each sum one element a thread and add the sum to a total.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>

namespace kernelskill::skills {

/// The way a thread gets its element.
enum class ElementForm : std::uint8_t {
    Chosen,  ///< `x = i < n ? element : 0;`, also as a declaration.
    Guarded, ///< `x = 0; … if (i < n) x = element;`
};

/// The element that a thread adds to its block's sum. The rest of the kernel is linear in it.
struct BlockSum {
    ElementForm form = ElementForm::Chosen;
    analysis::StmtId statement = analysis::noId; ///< It loads the element.
    analysis::VariableId index = analysis::noId; ///< blockIdx.x * blockDim.x + threadIdx.x
    analysis::ExprId limit = analysis::noId;
    analysis::ExprId element = analysis::noId;
    analysis::ExprId zero = analysis::noId;         ///< For Chosen: the other value.
    analysis::ExprId target = analysis::noId;       ///< The left side; noId: a declaration.
    analysis::VariableId variable = analysis::noId; ///< The local, or the shared array.
    bool movesIndex =
        false; ///< The index' declaration stands alone, and may go into a loop's head.
    analysis::ScalarKind scalar = analysis::ScalarKind::Float;
};

/// Refuses with `already-cascaded`, `no-thread-index`, `element-form`, `element-effect`,
/// `no-block-sum`, `counts-blocks`, `not-a-sum`, `no-total`, `no-exchange`, `early-return`,
/// `index-declaration`, and what requireResizableGrids() refuses with.
[[nodiscard]] Gated<BlockSum> findBlockSum(const SkillContext& context);

} // namespace kernelskill::skills
