/// The edit that stages records.
#pragma once

#include "skills/aos-staging/staging_plan.h"

namespace kernelskill::skills {

[[nodiscard]] std::vector<analysis::TextEdit> stagingEdits(const SkillContext& context,
                                                           const Staging& staging);

} // namespace kernelskill::skills
