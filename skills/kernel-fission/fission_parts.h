/// The primitive `split` of kernels: a kernel's statements become those of two kernels, which are
/// launched one after the other.
#pragma once

#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Where a kernel can be cut in two.
struct FissionParts {
    std::vector<analysis::StmtId> first; ///< What the first kernel alone runs, in order,
    std::vector<analysis::StmtId> rest;  ///< and the second one alone.
    /// Barriers that the first kernel leaves out, and the second one: they stand between the parts,
    /// or within the other one.
    std::vector<analysis::StmtId> notInFirst;
    std::vector<analysis::StmtId> notInRest;
    /// What both run if they need it: declarations without memory, and early returns.
    std::vector<analysis::StmtId> both;
    /// Why the parts want threads of their own; empty if the text gives no reason.
    std::string reason;
};

/// Finds the first cut with a reason, else the first one. Each part has a loop. Refuses with
/// `one-part`, `value-crosses`, `shared-memory-crosses`, `early-exit`, `unknown-call`, and what
/// requireSeparateBlocks() refuses with.
[[nodiscard]] Gated<FissionParts> fissionParts(const SkillContext& context);

} // namespace kernelskill::skills
