/// Reads one loop of a kernel as a walk that threads share.
#pragma once

#include "skills/vectorized-access/shared_walk.h"

#include <cstdint>

namespace kernelskill::skills {

/// The walk that loop `index` of the kernel is, what it has to do with other code aside. Refuses
/// as sharedWalks().
[[nodiscard]] Gated<SharedWalk> readWalk(const SkillContext& context, std::uint32_t index);

} // namespace kernelskill::skills
