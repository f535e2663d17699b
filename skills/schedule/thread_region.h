/// Checks statements that one thread of a block runs, and that all lanes of its warp are to run.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/schedule/shared_loops.h"

#include <vector>

namespace kernelskill::skills {

/// Whether the node's code is below the statement `region`, or called from there. True for every
/// node if `region` is noId.
[[nodiscard]] bool isInRegion(const analysis::Nest& nest, const analysis::CodeMap& code,
                              analysis::StmtId region, analysis::NestNodeId node);

/// Returns the statements of the region, outside of shared loops, that store or call functions that
/// do: one lane has to run them. Refuses with `row-memory`, `barrier` or `unknown-effects` if it
/// cannot, and with `lanes-differ` or `used-after` if lanes may see other values in the rest.
[[nodiscard]] Gated<std::vector<analysis::StmtId>>
storesOfRegion(const SkillContext& context, analysis::StmtId region, const SharedLoops& shared);

} // namespace kernelskill::skills
