/// Values that all threads of a block compute alike, and the edit that lets one thread compute
/// them.
#pragma once

#include "skills/invariant-hoisting/costly_functions.h"
#include "skills/schedule/draft.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// An expression of parameters, constants and the block's place around costly functions.
struct BlockValue {
    std::vector<analysis::ExprId> uses; ///< In the order of the source: the same expression.
    CostlyFunction function;            ///< The first one in it.
};

/// Finds the values that are worth it. Refuses with `no-uniform-function`, `cheap-function`,
/// `under-condition`, `from-macro`, `kernel-of-one-warp` or `shared-memory-full`.
[[nodiscard]] Gated<std::vector<BlockValue>> blockValues(const SkillContext& context);

/// Returns a name in shared memory for each value, all different.
[[nodiscard]] std::vector<std::string> sharedNames(const SkillContext& context,
                                                   const std::vector<BlockValue>& values);

/// Lets the first thread compute the values at the beginning of the kernel, before a barrier.
void computeOnce(Draft& draft, const SkillContext& context, const std::vector<BlockValue>& values,
                 const std::vector<std::string>& names);

} // namespace kernelskill::skills
