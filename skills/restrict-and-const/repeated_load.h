/// Loads that the compiler has to repeat because pointers may lead to the same memory.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/skill.h"

#include <optional>

namespace kernelskill::skills {

/// A load of an element that the thread has loaded before, with a store in between that may have
/// changed it as far as the compiler knows.
struct RepeatedLoad {
    analysis::NestAccessId load = analysis::noId;
    analysis::NestAccessId store = analysis::noId;
    bool isInLoop = false; ///< The load is repeated in every round of a loop.
};

/// The first one in the kernel's own text; nullopt if there is none.
[[nodiscard]] std::optional<RepeatedLoad> repeatedLoad(const SkillContext& context);

} // namespace kernelskill::skills
