/// The programs that a request means.
#pragma once

#include "engine/program/workspace_programs.h"
#include "lsp-server/server/server_context.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The folders in which programs are searched.
struct ProgramScope {
    std::filesystem::path root;
    std::vector<std::filesystem::path> folders;
    std::string settings; ///< JSON text.
};

/// The workspace of the file that `uri` names, else the first one; nullopt without any.
[[nodiscard]] std::optional<ProgramScope> programScopeOf(const ServerContext& context,
                                                         const std::string& uri);

/// The scope of an argument's `uri`. Answers with the error if there is none.
[[nodiscard]] std::optional<ProgramScope>
programScopeOrError(const ServerContext& context, const nlohmann::json& argument, Reply& reply);

/// Reads files: not on the loop's thread.
[[nodiscard]] engine::WorkspacePrograms programsOf(const ProgramScope& scope);

} // namespace kernelskill::lsp
