/// Writes a block's scan with warp shuffles.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/warp-scan/block_scan.h"

#include <vector>

namespace kernelskill::skills {

[[nodiscard]] std::vector<analysis::TextEdit>
scanEdits(const SkillContext& context, const analysis::CodeMap& code, const BlockScan& scan);

} // namespace kernelskill::skills
