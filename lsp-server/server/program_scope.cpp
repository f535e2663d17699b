#include "lsp-server/server/program_scope.h"

#include "analysis/source/json.h"
#include "engine/program/workload_json.h"
#include "lsp-server/protocol/uri.h"

namespace kernelskill::lsp {

using nlohmann::json;

std::optional<ProgramScope> programScopeOf(const ServerContext& context, const std::string& uri) {
    const auto path = uri.empty() ? std::nullopt : pathFromUri(uri);
    ProgramScope scope;
    scope.settings = context.workspace.options().program.text;
    if (path) {
        scope.root = context.workspace.trustedUnit(*path);
        scope.folders.push_back(path->parent_path());
    } else if (!context.workspace.folders().empty()) {
        scope.root = context.workspace.folders().front();
    } else {
        return std::nullopt;
    }
    if (scope.folders.empty() || scope.folders.front() != scope.root)
        scope.folders.push_back(scope.root);
    return scope;
}

std::optional<ProgramScope> programScopeOrError(const ServerContext& context, const json& argument,
                                                Reply& reply) {
    auto scope = programScopeOf(context, argument.value("uri", ""));
    if (!scope)
        reply.error(ErrorCode::InvalidParams, "no folder is open: name a file by its `uri`");
    return scope;
}

engine::WorkspacePrograms programsOf(const ProgramScope& scope) {
    return engine::programsOf(
        scope.root, scope.folders,
        engine::readWorkloads(json::parse(scope.settings), scope.root, "settings"));
}

} // namespace kernelskill::lsp
