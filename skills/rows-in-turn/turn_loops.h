/// Loops along the row of each thread that the lanes of a warp can walk together, one row after the
/// other, without another launch.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/shared_loops.h"

#include <vector>

namespace kernelskill::skills {

/// A local variable that differs between threads, and its uses in a loop.
struct RowVariable {
    analysis::VariableId variable = analysis::noId;
    std::vector<analysis::ExprId> uses;
};

/// The values by which the rounds of a loop depend on the thread whose row they walk. Those that
/// only name an element which rounds fold into are left out.
struct RowValues {
    std::vector<RowVariable> variables;
    std::vector<analysis::ExprId> positions; ///< Uses of threadIdx in the loop.
};

struct TurnLoops {
    SharedLoops shared;
    std::vector<RowValues> values; ///< By loop.
    double sectorsBefore = 0;      ///< The sectors of a round of a warp, all loops together.
    double sectorsAfter = 0;
};

/// Refuses with `whole-rows` where a row can be given to a warp of its own, with `coalesced`,
/// `several-axes`, `no-row-loop`, `from-macro`, `barrier`, `unknown-effects`,
/// `uses-thread-position`, `row-values`, `fold-operator`, `may-alias`, or what LaneLoopReader
/// refuses with.
[[nodiscard]] Gated<TurnLoops> turnLoops(const SkillContext& context);

} // namespace kernelskill::skills
