#include "lsp-server/workspace/workspace_root.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace kernelskill::lsp {

namespace {

/// The home folder, and one that any user may write to, as /tmp: a file tried there leaves a
/// `.kernelskill` behind, which must not make one workspace of all the projects below.
bool isForUnrelatedFolders(const std::filesystem::path& folder) {
    std::error_code error;
    const auto status = std::filesystem::status(folder, error);
    if (!error && (status.permissions() & std::filesystem::perms::others_write) !=
                      std::filesystem::perms::none)
        return true;
    const char* const home = std::getenv("HOME");
    return home != nullptr && std::filesystem::equivalent(folder, home, error);
}

} // namespace

std::filesystem::path currentWorkspaceRoot() {
    std::error_code ignored;
    return workspaceRootOf(std::filesystem::current_path(ignored) / "file");
}

std::filesystem::path workspaceRootOf(const std::filesystem::path& file) {
    std::error_code ignored;
    const auto folder = file.parent_path();
    for (auto at = folder; at.has_relative_path(); at = at.parent_path()) {
        const bool isMarked = std::filesystem::exists(at / ".kernelskill", ignored) ||
                              std::filesystem::exists(at / ".git", ignored);
        if (isMarked && (at == folder || !isForUnrelatedFolders(at)))
            return at;
    }
    const auto here = std::filesystem::current_path(ignored);
    const bool isInside = std::ranges::mismatch(here, file).in1 == here.end();
    return isInside ? here : folder;
}

} // namespace kernelskill::lsp
