/// Includes a header that an edit needs.
#pragma once

#include "analysis/source/text_edit.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// The begin of the line where a file includes one more header: after the last unconditional
/// #include at the head of the file, or else before its code; inside of an include guard if there
/// is one. `tokens` are those of the text.
[[nodiscard]] std::uint32_t includePlace(std::string_view text,
                                         const std::vector<analysis::Token>& tokens);

/// Includes `header`, e.g. `<cuda_pipeline.h>`, at that place. nullopt if the file includes it.
/// Reads the whole file, which is too slow for a plan.
[[nodiscard]] std::optional<analysis::TextEdit> addedInclude(const SkillContext& context,
                                                             std::string_view header);

} // namespace kernelskill::skills
