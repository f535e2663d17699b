/// A kernel whose work stands under one condition, however many axes it has.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/skill.h"

#include <optional>
#include <vector>

namespace kernelskill::skills {

/// `if (x < w && y < h) { work }` or `if (x >= w || y >= h) return; work`, after declarations alone
/// and with nothing behind it.
struct GuardedWork {
    analysis::StmtId guard = analysis::noId;
    bool returnsEarly = false;
    std::vector<analysis::StmtId> work; ///< In order; not empty.
};

/// nullopt for kernels of another shape, and for guards out of macros.
[[nodiscard]] std::optional<GuardedWork> findGuardedWork(const SkillContext& context,
                                                         const CodeMap& code);

/// The comparison that holds where `comparison`, of integers, does not; empty when it is none.
[[nodiscard]] std::string_view oppositeComparison(const analysis::FunctionBody& body,
                                                  const analysis::Expr& comparison);

} // namespace kernelskill::skills
