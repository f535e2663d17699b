/// The programs of a workspace, and the one that its user has picked.
#pragma once

#include "analysis/source/error.h"
#include "engine/program/workload.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct WorkspacePrograms {
    std::vector<Workload> workloads; ///< Workloads of settings come first.
    std::vector<std::string> notes;
    std::string picked; ///< Empty: none yet.
};

/// Settings that lie in the workspace: `.kernelskill/programs.json`, and `kernelskill.program` of
/// `.vscode/settings.json`, both with comments. Their folders are taken from `root`.
[[nodiscard]] FoundWorkloads workspaceSettings(const std::filesystem::path& root);

/// The workloads of `settings`, the workspace's own settings, and those found in `folders`; of two
/// with one name the first counts. Without `root` the workspace's settings and its user's choice
/// are not read. Reads files; runs nothing.
[[nodiscard]] WorkspacePrograms programsOf(const std::filesystem::path& root,
                                           const std::vector<std::filesystem::path>& folders,
                                           FoundWorkloads settings);

/// The workload of this name; without a name the picked one, else the only one. InvalidInput names
/// those there are; Missing if there is none.
[[nodiscard]] Result<Workload> chooseProgram(const WorkspacePrograms& programs,
                                             const std::string& name);

/// Keeps the name in `.kernelskill/picked-program` of the workspace.
[[nodiscard]] Result<void> rememberProgram(const std::filesystem::path& root,
                                           const std::string& name);

} // namespace kernelskill::engine
