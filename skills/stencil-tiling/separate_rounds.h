/// Whether the points of a march can be worked on one behind the other by one thread.
#pragma once

#include "skills/stencil-tiling/marched_work.h"

#include <set>

namespace kernelskill::skills {

/// Requires that no round needs what another one leaves. `dependent` are the locals before the work
/// that follow from the position. Refuses with `position-used-elsewhere`, `carried-value`,
/// `several-statements-a-line`, `early-exit` and `from-macro`.
[[nodiscard]] Gated<void> requireSeparateRounds(const SkillContext& context,
                                                const MarchedWork& work,
                                                const std::set<analysis::VariableId>& dependent);

} // namespace kernelskill::skills
