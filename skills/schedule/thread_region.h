/// Statements that a single thread of a block runs, and its warp is to run alike.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/schedule/shared_loops.h"

#include <vector>

namespace kernelskill::skills {

/// Returns whether the node's code is below the statement `region` or called from there; always
/// true if that is noId.
[[nodiscard]] bool isInRegion(const analysis::Nest& nest, const analysis::CodeMap& code,
                              analysis::StmtId region, analysis::NestNodeId node);

/// Returns the statements of the region, outside of shared loops, that store or call what does: one
/// lane is to run them. Refuses with `row-memory`, `barrier` or `unknown-effects` where they cannot
/// be, and with `lanes-differ` or `used-after` where lanes do not see alike what the rest uses.
[[nodiscard]] Gated<std::vector<analysis::StmtId>>
storesOfRegion(const SkillContext& context, analysis::StmtId region, const SharedLoops& shared);

} // namespace kernelskill::skills
