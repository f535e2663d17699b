/// The programs of the folder that a command is called in.
#pragma once

#include "engine/program/workspace_programs.h"

#include <filesystem>

namespace kernelskill::lsp {

/// The current folder and the workspace that it belongs to.
struct CurrentPlace {
    std::filesystem::path folder;
    std::filesystem::path root;
    bool isOwn = false; ///< Both belong to the user, or are in a folder that the user trusts.
};
[[nodiscard]] CurrentPlace currentPlace();

/// Says on standard error if settings are not read because the folder belongs to another user.
[[nodiscard]] engine::WorkspacePrograms programsAt(const CurrentPlace& place);

/// The error of a command that would run something of another user's folder.
[[nodiscard]] Error notOwn(const CurrentPlace& place);

} // namespace kernelskill::lsp
