/// The kernel's nest, made once for a context and its copies, and questions about it.
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

/// Memory that no other thread reaches.
[[nodiscard]] inline bool isThreadsOwn(const analysis::NestArray& array) {
    return array.isVariable || array.space == analysis::MemorySpace::Local;
}
/// False where the array is not known.
[[nodiscard]] inline bool isThreadsOwn(const analysis::Nest& nest,
                                       const analysis::NestAccess& access) {
    return access.array != analysis::noId && isThreadsOwn(nest.arrays[access.array]);
}

/// `node` is `outer` or below it.
[[nodiscard]] inline bool isInside(const analysis::Nest& nest, analysis::NestNodeId outer,
                                   analysis::NestNodeId node) {
    while (node != analysis::noId && node != outer)
        node = nest.node(node).parent;
    return node == outer;
}

} // namespace kernelskill::skills
