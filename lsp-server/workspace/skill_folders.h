/// The folders with the user's skills, see docs/user-skills.md.
#pragma once

#include "skills/base/skill_folder.h"

#include <filesystem>
#include <vector>

namespace kernelskill::lsp {

/// `$XDG_CONFIG_HOME/kernelskill/skills`, or below `~/.config`; empty where neither is known.
[[nodiscard]] std::filesystem::path userSkillFolder();
/// `.kernelskill/skills` of a workspace.
[[nodiscard]] std::filesystem::path workspaceSkillFolder(const std::filesystem::path& root);

/// The folders of trusted workspaces, then the user's own; only those that exist.
[[nodiscard]] std::vector<skills::SkillFolder>
skillFolders(const std::vector<std::filesystem::path>& trustedRoots);
/// The same for a command that works in `root`, which is trusted with its skills if they belong to
/// the user that runs it.
[[nodiscard]] std::vector<skills::SkillFolder>
skillFoldersOfCommand(const std::filesystem::path& root);

} // namespace kernelskill::lsp
