/// A header that an edit needs.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <optional>
#include <string_view>

namespace kernelskill::skills {

/// Includes `header`, e.g. `<cuda_pipeline.h>`, behind the last unconditional #include of the
/// file's head, or ahead of its code. nullopt: the file includes it. Reads the whole file: for
/// apply().
[[nodiscard]] std::optional<analysis::TextEdit> addedInclude(const SkillContext& context,
                                                             std::string_view header);

} // namespace kernelskill::skills
