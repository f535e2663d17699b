/// Memory that code stores to, and that it reaches by no other name.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/skill.h"

#include <functional>

namespace kernelskill::skills {

/// Tells whether a store is left out, since it was checked before.
using CheckedStore = std::function<bool(const analysis::NestAccess&)>;

/// Requires that what runs at or below `root` reaches the memory that it stores to by no pointer
/// but one. Refuses with `may-alias`.
[[nodiscard]] Gated<void> requireDistinctStores(const SkillContext& context,
                                                analysis::NestNodeId root,
                                                const CheckedStore& isChecked = {});

} // namespace kernelskill::skills
