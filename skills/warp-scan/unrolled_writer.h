/// Writes a scan whose steps stand one after the other with warp shuffles.
#pragma once

#include "skills/base/skill.h"
#include "skills/warp-scan/unrolled_scan.h"

#include <vector>

namespace kernelskill::skills {

/// The edits of the function that has the steps.
[[nodiscard]] std::vector<analysis::TextEdit> unrolledEdits(const SkillContext& function,
                                                            const UnrolledScan& scan);

} // namespace kernelskill::skills
