/// SKILL.md: the part of a skill that people, the planner and language models read.
#pragma once

#include "skills/skill.h"

#include <filesystem>
#include <string_view>

namespace kernelskill::skills {

/// Parses front matter and prose. InvalidInput with file, line and field when something is wrong.
[[nodiscard]] Result<SkillMetadata> parseSkillDocument(std::string_view text,
                                                       std::string_view path);

/// Reads `<directory>/<id>/SKILL.md` for every sub-folder that has one; a bad file yields its error
/// and the rest load.
struct SkillDocuments {
    std::vector<SkillMetadata> skills;
    std::vector<Error> errors;
};
[[nodiscard]] SkillDocuments loadSkillDocuments(const std::filesystem::path& directory);

[[nodiscard]] std::string_view spelling(SkillKind kind); ///< "source" | "launch" | "library"
[[nodiscard]] std::string_view
spelling(Numerics numerics); ///< "exact" | "reassociates" | "reduced-precision"

} // namespace kernelskill::skills
