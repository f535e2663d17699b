/// How long a round of a staged loop waits for its tile and how long it computes, as far as the
/// code tells.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/rewriting/staged_loop.h"
#include "skills/skill.h"

namespace kernelskill::skills {

struct RoundEstimate {
    double operations = 0; ///< Of a thread on a tile.
    double warps = 0;      ///< Of a block.

    /// Cycles until global memory answers.
    [[nodiscard]] double waiting() const;
    /// Cycles of a block that is alone on its multiprocessor.
    [[nodiscard]] double computing() const;
    /// Cycles in which a multiprocessor can do nothing else meanwhile.
    [[nodiscard]] double issuing() const;
};

[[nodiscard]] RoundEstimate estimateRound(const SkillContext& context, const CodeMap& code,
                                          const StagedLoop& staged);

} // namespace kernelskill::skills
