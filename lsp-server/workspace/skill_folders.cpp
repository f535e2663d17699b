#include "lsp-server/workspace/skill_folders.h"

#include "lsp-server/workspace/ownership.h"

#include <cstdlib>

namespace kernelskill::lsp {

namespace fs = std::filesystem;

fs::path userSkillFolder() {
    if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config != '\0')
        return fs::path(config) / "kernelskill" / "skills";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return fs::path(home) / ".config" / "kernelskill" / "skills";
    return {};
}

fs::path workspaceSkillFolder(const fs::path& root) {
    return root / ".kernelskill" / "skills";
}

std::vector<skills::SkillFolder> skillFolders(const std::vector<fs::path>& trustedRoots) {
    std::vector<skills::SkillFolder> folders;
    const auto add = [&](const fs::path& folder, skills::SkillOrigin origin) {
        std::error_code ignored;
        if (!folder.empty() && fs::is_directory(folder, ignored))
            folders.push_back({folder, origin});
    };
    for (const fs::path& root : trustedRoots)
        add(workspaceSkillFolder(root), skills::SkillOrigin::Workspace);
    add(userSkillFolder(), skills::SkillOrigin::User);
    return folders;
}

std::vector<skills::SkillFolder> skillFoldersOfCommand(const fs::path& root) {
    return skillFolders(isOwn(workspaceSkillFolder(root)) && isOwn(root) ? std::vector{root}
                                                                         : std::vector<fs::path>{});
}

} // namespace kernelskill::lsp
