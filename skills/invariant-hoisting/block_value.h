/// Values that all threads of a block compute alike, which one thread can compute for all.
#pragma once

#include "skills/schedule/costly_functions.h"
#include "skills/schedule/draft.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// An expression of parameters, constants and the block's place around costly functions.
struct BlockValue {
    std::vector<analysis::ExprId> uses; ///< In the order of the source: the same expression.
    CostlyFunction function;            ///< One of those in it.
};

/// Refuses with `no-uniform-function`, `cheap-function`, `under-condition`,
/// `from-macro`, `kernel-of-one-warp` or `shared-memory-full`.
[[nodiscard]] Gated<std::vector<BlockValue>> blockValues(const SkillContext& context);

/// Names of variables in shared memory for them, all different.
[[nodiscard]] std::vector<std::string> sharedNames(const SkillContext& context,
                                                   const std::vector<BlockValue>& values);

/// The first thread computes them at the beginning of the kernel; a barrier follows.
void computeOnce(Draft& draft, const SkillContext& context, const std::vector<BlockValue>& values,
                 const std::vector<std::string>& names);

} // namespace kernelskill::skills
