/// The primitive `split` of kernels: a kernel's statements become those of two kernels, which are
/// launched one after the other.
#pragma once

#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// A cut of a kernel in two.
struct FissionParts {
    std::vector<analysis::StmtId> first; ///< The first kernel alone runs these, in order,
    std::vector<analysis::StmtId> rest;  ///< and the second one these.
    /// Each kernel leaves out the statements of the other one, and the barriers between the two.
    std::vector<analysis::StmtId> leftOutOfFirst;
    std::vector<analysis::StmtId> leftOutOfRest;
    /// Both kernels keep these if they need them: declarations without memory, and early returns.
    std::vector<analysis::StmtId> both;
    /// Says why the parts want threads of their own; empty if the text gives no reason.
    std::string reason;
};

/// Finds the first cut with a reason, else the first one. Each part has a loop. Refuses with
/// `one-part`, `value-crosses`, `shared-memory-crosses`, `early-exit`, `unknown-call`, and what
/// requireSeparateBlocks() refuses with.
[[nodiscard]] Gated<FissionParts> fissionParts(const SkillContext& context);

} // namespace kernelskill::skills
