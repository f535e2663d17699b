/// Includes a header that an edit needs.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <optional>
#include <string_view>

namespace kernelskill::skills {

/// Includes `header`, e.g. `<cuda_pipeline.h>`, after the last unconditional #include at the head
/// of the file, or else before its code; inside of an include guard if there is one. nullopt if the
/// file includes it. Reads the whole file, which is too slow for a plan.
[[nodiscard]] std::optional<analysis::TextEdit> addedInclude(const SkillContext& context,
                                                             std::string_view header);

} // namespace kernelskill::skills
