/// The skills as resources: what each method does, when it fits, and what can go wrong.
#pragma once

#include "analysis/source/json.h"
#include "skills/base/skill.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// resources/list: [{uri, name, title, description, mimeType}]
[[nodiscard]] nlohmann::json skillResources(std::span<const skills::SkillMetadata> skills);

/// The one resource of resources/templates/list.
[[nodiscard]] nlohmann::json skillTemplate();

/// The resource of that URI as Markdown; nullopt if there is none.
[[nodiscard]] std::optional<std::string> skillText(std::span<const skills::SkillMetadata> skills,
                                                   std::string_view uri);

} // namespace kernelskill::lsp
