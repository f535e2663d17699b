/// The text of the two kernels that a kernel is split into, and of their launches.
#pragma once

#include "skills/kernel-fission/fission_parts.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Requires that each launch of the kernel can become two. Refuses with `argument-acts`,
/// `launch-in-branch`, `defined-later`, and what requireFollowableLaunches() refuses with.
[[nodiscard]] Gated<void> requireRepeatableLaunches(const SkillContext& context);

/// Adds the two kernels behind the one, and launches them in its place. The kernel stays.
[[nodiscard]] std::vector<analysis::TextEdit> fissionEdits(const SkillContext& context,
                                                           const FissionParts& parts);

} // namespace kernelskill::skills
