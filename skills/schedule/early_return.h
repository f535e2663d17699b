/// `if (i >= n) return;` at the head of a kernel, and the guarded block that does the same without
/// sending threads away: what follows a barrier or a shuffle needs them all.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct EarlyReturn {
    analysis::StmtId guard = analysis::noId; ///< The `if` of the kernel's outermost block.
    std::string condition;                   ///< The condition of the threads that go on.
};

/// In the order of the source; empty when every thread reaches the end. Refuses kernels that some
/// threads leave in another way (`early-exit`), and such whose lines an edit could not keep apart
/// (`several-statements-a-line`).
[[nodiscard]] Gated<std::vector<EarlyReturn>> findEarlyReturns(const SkillContext& context,
                                                               const analysis::CodeMap& code);

/// Edits that put all that follows each guard into `if (condition) {` ... `}`. The last ones insert
/// the brackets at the start of the line of the kernel's own, where more may follow.
[[nodiscard]] std::vector<analysis::TextEdit> guardedBlocks(const SkillContext& context,
                                                            const analysis::CodeMap& code,
                                                            const std::vector<EarlyReturn>& found);

/// `edits` without the indentation of lines that another of them replaces as a whole.
[[nodiscard]] std::vector<analysis::TextEdit> withoutCovered(std::vector<analysis::TextEdit> edits);

} // namespace kernelskill::skills
