/// The position of a kernel's threads along an axis of the launch.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>

namespace kernelskill::skills {

struct MarchIndex {
    analysis::VariableId variable = analysis::noId;
    analysis::ExprId base = analysis::noId; ///< Its initialiser less a constant.
    analysis::StmtId statement = analysis::noId;
};

/// The local `blockIdx.z * blockDim.z + threadIdx.z`, in whatever form, by which alone the kernel
/// knows of the axis. Refuses with `no-axis`, `uses-thread-position`, and what editablePositions()
/// and editableBlockPositions() refuse.
[[nodiscard]] Gated<MarchIndex> marchIndex(const SkillContext& context, std::uint8_t axis);

} // namespace kernelskill::skills
