#include "lsp-server/commands/current_programs.h"

#include "lsp-server/workspace/ownership.h"
#include "lsp-server/workspace/trusted_folders.h"
#include "lsp-server/workspace/workspace_root.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <vector>

namespace kernelskill::lsp {

namespace fs = std::filesystem;

CurrentPlace currentPlace() {
    std::error_code ignored;
    CurrentPlace place{fs::current_path(ignored), currentWorkspaceRoot(), false};
    const auto mine = [](const fs::path& folder) {
        return isOwn(folder) || TrustedFolders().hold(folder);
    };
    place.isOwn = mine(place.folder) && mine(place.root);
    return place;
}

engine::WorkspacePrograms programsAt(const CurrentPlace& place) {
    std::vector<fs::path> folders{place.folder};
    if (place.root != place.folder)
        folders.push_back(place.root);
    if (!place.isOwn)
        fmt::print(stderr,
                   "note: {} belongs to another user, so settings in it are not read and nothing "
                   "of it is run\n",
                   place.root.string());
    return engine::programsOf(place.isOwn ? place.root : fs::path(), folders, {});
}

Error notOwn(const CurrentPlace& place) {
    return {ErrorKind::Missing, "the folder belongs to another user, so its programs are not run",
            place.root.string(), "`kernelskill trust " + place.root.string() + "` trusts it"};
}

} // namespace kernelskill::lsp
