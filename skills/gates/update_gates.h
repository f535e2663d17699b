/// Checks what has to hold so that a block can gather its threads' atomic updates first.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/contended_updates.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// Refuses with `one-thread-updates` an atomic under a condition that holds for few threads of a
/// block.
[[nodiscard]] Gated<void> requireManyThreads(const SkillContext& context, analysis::ExprId call);

/// Refuses unless the updates may come as late as the kernel's end: `used-beside` if other code
/// uses the variable, and what requireNoOrder() refuses.
[[nodiscard]] Gated<void> requireUnseen(const SkillContext& context,
                                        const ContendedUpdates& updates);
/// Refuses fences and grid barriers with `orders-memory`.
[[nodiscard]] Gated<void> requireNoOrder(const SkillContext& context);

/// Whether an address has one value for all threads of a block that is also known at the end of the
/// kernel: it is made of `base`, constants, parameters, block indices and locals of these that the
/// kernel's outermost block declares before `guard` (noId: anywhere in that block).
[[nodiscard]] bool isSameForBlock(const SkillContext& context, analysis::VariableId base,
                                  analysis::StmtId guard, analysis::ExprId expr);

/// The shape and size of the kernel's blocks, by the launches in the file.
struct LaunchedThreads {
    bool isFlat = false;   ///< Every launch has one-dimensional blocks.
    std::int64_t most = 0; ///< Threads of the largest block; 0: not known.
};
[[nodiscard]] LaunchedThreads launchedThreads(const SkillContext& context);

/// Refuses with `several-statements-a-line` if no whole lines can be added before and after the
/// statements that hold the updates, or at the kernel's brackets.
[[nodiscard]] Gated<void> requireOwnLinesOf(const SkillContext& context,
                                            const std::vector<UpdateSite>& sites);

} // namespace kernelskill::skills
