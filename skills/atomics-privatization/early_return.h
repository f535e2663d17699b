/// `if (i >= n) return;` at the head of a kernel, and the guarded block that does the same without
/// sending threads away: what follows a barrier or a shuffle needs them all.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct EarlyReturn {
    analysis::StmtId guard = analysis::noId; ///< The `if` of the kernel's outermost block.
    std::string condition;                   ///< The condition of the threads that go on.
};

/// nullopt when every thread reaches the end. Refuses kernels that some threads leave in another
/// way (`early-exit`), and such whose lines an edit could not keep apart
/// (`several-statements-a-line`).
[[nodiscard]] Gated<std::optional<EarlyReturn>> findEarlyReturn(const SkillContext& context,
                                                                const analysis::CodeMap& code);

/// Edits that put all that follows the guard into `if (condition) {` ... `}`. The last one inserts
/// the bracket at the start of the line of the kernel's own, where more may follow.
[[nodiscard]] std::vector<analysis::TextEdit>
guardedBlock(const SkillContext& context, const analysis::CodeMap& code, const EarlyReturn& found);

} // namespace kernelskill::skills
