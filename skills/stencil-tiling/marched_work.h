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
    std::vector<analysis::ExprId>
        kept;               ///< The parts of its condition that say nothing of the axis.
    bool isChanged = false; ///< The other parts become bounds of the loop.
};

struct MarchedWork {
    std::uint8_t axis = 2;
    analysis::VariableId index = analysis::noId; ///< The position along the axis.
    analysis::ExprId base = analysis::noId;      ///< Its initialiser less a constant.
    std::vector<MarchGuard> guards;              ///< Outermost, or one behind the other.
    /// The conditions under which a round is one of the loop's, as they have to hold.
    std::vector<std::string> upper;
    std::string lower; ///< The first position that has work; empty: any.
    /// Statements before the work that follow from the position.
    std::vector<analysis::StmtId> moved;
    std::vector<analysis::StmtId> work; ///< Neighbours in a block, its last ones; not empty.
};

/// The work of a kernel whose threads do not know of each other. Refuses with `no-bounds-guard`,
/// `compound-guard`, `work-before-guard`, `position-used-elsewhere`, `carried-value`, `early-exit`,
/// `atomic`, `from-macro`, `several-statements-a-line`, and what requireThreadsApart() and
/// marchIndex() refuse.
[[nodiscard]] Gated<MarchedWork> marchedWork(const SkillContext& context, std::uint8_t axis);

} // namespace kernelskill::skills
