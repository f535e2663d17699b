/// A kernel's work on one point, where its threads can march along an axis of the launch.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A bounds check around the work.
struct MarchGuard {
    analysis::StmtId statement = analysis::noId;
    bool returnsEarly = false;
    /// The parts of its condition that say nothing of the axis.
    std::vector<analysis::ExprId> kept;
    bool isChanged = false; ///< There are other parts, which become bounds of the loop.
};

struct MarchedWork {
    std::uint8_t axis = 2;
    analysis::VariableId index = analysis::noId; ///< The position along the axis.
    analysis::ExprId base = analysis::noId; ///< Its initialiser without the constant that is added.
    std::vector<MarchGuard> guards;         ///< Outermost, or one behind the other.
    /// Conditions that have to hold for a round to be one of the loop's.
    std::vector<std::string> upper;
    std::string lower; ///< The first position that has work; empty: any.
    /// Statements before the work that follow from the position.
    std::vector<analysis::StmtId> moved;
    std::vector<analysis::StmtId> work; ///< Neighbours in a block, its last ones; not empty.
};

/// Finds the work of a kernel whose threads do not know of each other. Refuses with
/// `no-bounds-guard`, `compound-guard`, `work-before-guard`, `atomic`, and what
/// requireThreadsApart(), marchIndex() and requireSeparateRounds() refuse.
[[nodiscard]] Gated<MarchedWork> marchedWork(const SkillContext& context, std::uint8_t axis);

} // namespace kernelskill::skills
