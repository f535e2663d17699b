/// Finds atomics by which all threads of a block fold values into the same few addresses.
#pragma once

#include "skills/base/skill.h"
#include "skills/editing/early_return.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/contended_updates.h"
#include "skills/gates/update_gates.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// The updates of one address, all by the same atomic.
struct BlockTarget {
    analysis::ExprId address = analysis::noId;
    FoldKind fold = FoldKind::Sum;
    std::string function; ///< "atomicAdd"
    std::vector<UpdateSite> sites;
};

/// All updates of one variable, grouped by address.
struct BlockUpdates {
    ContendedUpdates all;
    std::vector<BlockTarget> targets;
    std::vector<EarlyReturn> earlyReturns;
    LaunchedThreads launched;
    LaneForm lanes = LaneForm::AlongX;
    /// An address depends on the block or on the launch: it may be invalid in a block that makes no
    /// update.
    bool mayTouchNothing = false;

    [[nodiscard]] bool isShared() const { return all.space == analysis::MemorySpace::Shared; }
    /// Whether several warps of a block update the addresses, so that they have to meet in shared
    /// memory.
    [[nodiscard]] bool hasManyWarps() const;
    /// Whether a compiler adds up a warp's values before the atomic, by votes or by redux.
    [[nodiscard]] bool areCombined() const;
};

/// Finds the updates at the cursor, else the first that fit. Refuses with the first gate that does
/// not hold: those of updatesOf(), requireUnseen(), findEarlyReturns(), and `addresses-differ`,
/// `many-addresses`, `one-of-several`, `mixed-operations`, `barrier-between`, `combined-already`,
/// `partial-warps`, `unknown-block`, `may-alias`.
[[nodiscard]] Gated<BlockUpdates> findBlockUpdates(const SkillContext& context);

} // namespace kernelskill::skills
