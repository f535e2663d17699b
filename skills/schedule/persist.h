/// The primitive `persist`: a grid as large as the GPU takes the blocks of the launch in turns, and
/// does once what each of them begins with.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/draft.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

struct PersistentBlocks {
    /// Statements of the kernel's outermost block, in order: those that every block does alike, and
    /// what a block does for itself.
    std::vector<analysis::StmtId> setUp;
    std::vector<analysis::StmtId> work;
    /// Those of `work` that stand before the last one of `setUp`: declarations, which move.
    std::vector<analysis::StmtId> moved;
    std::vector<analysis::StmtId> returns; ///< In the work; they end a round.
    std::vector<analysis::ExprId> blocks;  ///< `blockIdx.x`, in the order of the source.
    /// Threads must have ended a round before others begin the next.
    bool needsBarrier = false;
    /// The barrier that ends the set-up, which then begins each round instead; noId: there is none.
    analysis::StmtId barrier = analysis::noId;
    double setUpCost = 0; ///< Accesses and barriers of a thread, roughly.
    double workCost = 0;
    std::string array; ///< What the set-up fills; empty: it fills no shared memory.
};

/// Refuses with `no-set-up`, `work-outweighs`, `blocks-meet`, `uses-grid`, `grid-axes`,
/// `default-argument`, `declared-before`, `early-return`, `return-in-loop`,
/// `several-statements-a-line`, `few-blocks`, `kernel-name`, `grid-has-effect` or what
/// editableBlockPositions() and requireResizableGrids() refuse with.
[[nodiscard]] Gated<PersistentBlocks> persistentBlocks(const SkillContext& context);

/// Rewrites the kernel and its launches, and adds a function that asks how many blocks the GPU
/// holds.
void persist(Draft& draft, const SkillContext& context, const PersistentBlocks& found);

} // namespace kernelskill::skills
