/// The kernel's nest, made once for a context and its copies.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/held_values.h"
#include "skills/base/skill.h"

namespace kernelskill::skills {

/// Valid as long as the context or a copy of it.
[[nodiscard]] inline const analysis::Nest& nestOf(const SkillContext& context) {
    return context.held().value<analysis::Nest>(
        {}, [&] { return analysis::buildNest(context.file, context.kernel); });
}

} // namespace kernelskill::skills
