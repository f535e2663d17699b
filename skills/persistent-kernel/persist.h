/// The set-up and the work of a kernel's blocks, and the edit that lets as many blocks as the GPU
/// holds do the set-up once and take turns at the work.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/draft.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Statements are of the kernel's outermost block, in order.
struct PersistentBlocks {
    std::vector<analysis::StmtId> setUp; ///< The statements that every block does alike.
    std::vector<analysis::StmtId> work;  ///< The statements that differ between blocks.
    /// Declarations of `work` that stand before the end of the set-up and have to move behind it.
    std::vector<analysis::StmtId> moved;
    std::vector<analysis::StmtId> returns; ///< Returns in the work, which come to end a round.
    std::vector<analysis::ExprId> blocks;  ///< `blockIdx.x`, in the order of the source.
    /// All threads have to end a round before any begins the next.
    bool needsBarrier = false;
    /// The barrier that ends the set-up, which then begins each round instead; noId: there is none.
    analysis::StmtId barrier = analysis::noId;
    double setUpCost = 0; ///< The cost by StatementCosts.
    double workCost = 0;
    std::string array; ///< The shared array that the set-up fills; may be empty.
};

/// Parts the kernel into set-up and work. Refuses with `no-set-up`, `work-outweighs`,
/// `uses-grid`, `grid-axes`, `early-return`, `return-in-loop`, `several-statements-a-line`,
/// `few-blocks`, `kernel-name`, or what
/// requireSeparateBlocks(), editableBlockPositions() and requirePassableGrids() refuse with.
[[nodiscard]] Gated<PersistentBlocks> persistentBlocks(const SkillContext& context);

/// Rewrites the kernel and its launches, and adds a function that asks how many blocks the GPU
/// holds; implemented in write_persistent.cpp.
void persist(Draft& draft, const SkillContext& context, const PersistentBlocks& found);

} // namespace kernelskill::skills
