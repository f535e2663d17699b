/// Turns `if (i >= n) return;` in a kernel into `if (i < n) { ... }`, so that all threads reach the
/// end, where an edit adds barriers or shuffles.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

struct EarlyReturn {
    analysis::StmtId guard = analysis::noId; ///< The `if`, in the kernel's outermost block.
    std::string condition;                   ///< Holds for the threads that go on.
};

/// Finds the kernel's early returns, in the order of the source; none if every thread reaches the
/// end. Refuses with `early-exit` if threads may leave in another way, and with
/// `several-statements-a-line` if a check shares its lines with other code.
[[nodiscard]] Gated<std::vector<EarlyReturn>> findEarlyReturns(const SkillContext& context,
                                                               const analysis::CodeMap& code);

/// Puts all that follows each guard into `if (condition) {` ... `}`. The last edit inserts the
/// closing brackets before the line of the kernel's own; further lines may be inserted there.
[[nodiscard]] std::vector<analysis::TextEdit> guardedBlocks(const SkillContext& context,
                                                            const analysis::CodeMap& code,
                                                            const std::vector<EarlyReturn>& found);

/// Drops insertions inside of what another edit replaces, e.g. the indentation of its lines.
[[nodiscard]] std::vector<analysis::TextEdit> withoutCovered(std::vector<analysis::TextEdit> edits);

} // namespace kernelskill::skills
