/// A SKILL.md of the user's: with patterns a working skill, without them a method for people and
/// language models to read. The format is docs/user-skills.md.
#pragma once

#include "skills/base/skill.h"
#include "skills/patterns/code_pattern.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

struct UserSkill {
    SkillMetadata metadata;
    std::vector<CodePattern> patterns;
};

/// InvalidInput with file and line when something is wrong: in the front matter, a pattern or a
/// code block that does not end. Of a document without patterns, which another tool may have made,
/// only name and description are asked for.
[[nodiscard]] Result<UserSkill> parseUserSkill(std::string_view text, std::string_view path);

/// A document of that name which loads, to be edited.
[[nodiscard]] std::string newUserSkill(std::string_view name);

} // namespace kernelskill::skills
