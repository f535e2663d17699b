/// Where skills come from.
#pragma once

#include <cstdint>
#include <filesystem>

namespace kernelskill::skills {

enum class SkillOrigin : std::uint8_t { BuiltIn, User, Workspace };

/// A folder with `<name>/SKILL.md` files. Who lists one trusts what is in it.
struct SkillFolder {
    std::filesystem::path path;
    SkillOrigin origin = SkillOrigin::User;
    bool operator==(const SkillFolder&) const = default;
};

} // namespace kernelskill::skills
