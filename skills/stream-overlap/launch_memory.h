/// Whether two launches of a host function can be in each other's way.
#pragma once

#include "skills/base/skill.h"

#include <expected>

namespace kernelskill::skills {

/// Holds if no byte that one of them writes is touched by the other, as far as the text proves it:
/// pointers are told apart where they are allocations of the function's own, or parameters of it
/// that are __restrict__. Refuses with `shares-memory`, `may-alias` or `unknown-memory`.
[[nodiscard]] Gated<void> requireApart(const SkillContext& context,
                                       const analysis::LaunchSite& first,
                                       const analysis::LaunchSite& second);

} // namespace kernelskill::skills
