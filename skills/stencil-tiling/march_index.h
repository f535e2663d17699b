/// The position of a kernel's threads along an axis of the launch.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>

namespace kernelskill::skills {

struct MarchIndex {
    analysis::VariableId variable = analysis::noId;
    analysis::ExprId base = analysis::noId; ///< Its initialiser without the constant that is added.
    analysis::StmtId statement = analysis::noId;
};

/// Finds the local `blockIdx.z * blockDim.z + threadIdx.z`, in any form, which alone tells the
/// kernel of the axis. Refuses with `no-axis`, and what editablePositions(),
/// editableBlockPositions() and requireOnlyIndex() refuse.
[[nodiscard]] Gated<MarchIndex> marchIndex(const SkillContext& context, std::uint8_t axis);

} // namespace kernelskill::skills
