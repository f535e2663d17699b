/// Finds atomics by which all threads of a block fold values into the same few addresses.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/block_collective.h"
#include "skills/schedule/contended_updates.h"
#include "skills/schedule/early_return.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// The updates of one address.
struct BlockTarget {
    analysis::ExprId address = analysis::noId;
    UpdateOperation operation = UpdateOperation::Sum;
    std::string function; ///< "atomicAdd"
    std::vector<UpdateSite> sites;
};

/// All updates of one variable, by the addresses that they go to.
struct BlockUpdates {
    ContendedUpdates all;
    std::vector<BlockTarget> targets;
    std::vector<EarlyReturn> earlyReturns;
    LaunchedThreads launched;
    LaneForm lanes = LaneForm::AlongX;
    bool mayTouchNothing = false; ///< A block may have no update, and the address depends on it.

    [[nodiscard]] bool isShared() const { return all.space == analysis::MemorySpace::Shared; }
    [[nodiscard]] bool hasManyWarps() const;
    /// A compiler adds up a warp's values before the atomic, by votes or by redux.
    [[nodiscard]] bool areCombined() const;
};

/// The updates at the cursor, else the first that fit. Refuses with the first gate that does not
/// hold: those of updatesOf(), requireUnseen(), findEarlyReturns(), and `addresses-differ`,
/// `many-addresses`, `one-of-several`, `mixed-operations`, `barrier-between`, `combined-already`,
/// `partial-warps`, `unknown-block`, `may-alias`.
[[nodiscard]] Gated<BlockUpdates> findBlockUpdates(const SkillContext& context);

} // namespace kernelskill::skills
