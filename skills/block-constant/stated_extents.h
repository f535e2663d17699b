/// Constants that state the block of a kernel's launches.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct StatedExtent {
    std::string name;       ///< Of the macro, constant or variable.
    analysis::Span literal; ///< The number in its definition, or what a local is set to.
    std::int64_t value = 0;
    int axis = 0; ///< 0..2: x, y, z; the first that it states.
    int axes = 1; ///< How many axes it states.
};

/// Those of the kernel's block, the same for each of its launches, in the order of the axes. A
/// constant is a macro, a constant at file scope or a local that is set once, defined once in the
/// kernel's file by a number; or such a local that is set to a macro with several definitions,
/// which the kernel does not name. Refuses with `no-launch`, `unknown-block`,
/// `launch-in-other-file`, `no-block-constant` if no axis has one, and `shared-constant` if another
/// kernel depends on it.
[[nodiscard]] Gated<std::vector<StatedExtent>> statedExtents(const SkillContext& context);

} // namespace kernelskill::skills
