/// How long a round of a staged loop waits for its tile and how long it computes, as far as the
/// code tells.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/staged_loop.h"

namespace kernelskill::skills {

struct RoundEstimate {
    double operations = 0; ///< The operations of a thread on a tile.
    double warps = 0;      ///< The warps of a block.

    /// Cycles until global memory answers.
    [[nodiscard]] double waiting() const;
    /// Cycles of a block that is alone on its multiprocessor.
    [[nodiscard]] double computing() const;
    /// Cycles in which a multiprocessor can do nothing else meanwhile.
    [[nodiscard]] double issuing() const;
};

[[nodiscard]] RoundEstimate estimateRound(const SkillContext& context,
                                          const analysis::CodeMap& code, const StagedLoop& staged);

} // namespace kernelskill::skills
