// kernelskill/kernels: an overview of a file, be it open or not.
#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "lsp-server/documents/closed_document.h"
#include "lsp-server/features/kernels.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/program_profiles.h"
#include "lsp-server/server/server_context.h"

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

void onKernels(const ServerContext& context, const json& params, Reply& reply,
               const std::stop_source& stop) {
    const std::string uri = textDocumentUri(params);
    const PositionEncoding encoding = context.capabilities.positionEncoding;
    const auto shares = context.programs.sharesOf(analysis::canonicalPath(pathOf(uri)));
    if (context.documents.find(uri) != nullptr)
        return context.read(uri, std::move(reply), stop.get_token(),
                            [encoding, shares](const Snapshot& snapshot) {
                                return kernelsJson(snapshot, shares.get(), encoding);
                            });
    const auto path = pathFromUri(uri);
    if (!path)
        return reply.error(ErrorCode::InvalidParams, "only files have kernels");
    if (!context.workspace.workbench())
        return reply.error(toResponseError(context.workspace.problem()));
    context.jobs.post([path = *path, root = context.workspace.rootOf(*path),
                       workbench = context.workspace.workbench(),
                       commands = context.workspace.compileCommands(), encoding, shares,
                       stop = stop.get_token(), reply = std::move(reply)]() mutable {
        if (stop.stop_requested())
            return reply.error(ErrorCode::RequestCancelled, "cancelled");
        const auto snapshot = readDocument(path, root, std::move(workbench), *commands);
        if (!snapshot)
            return reply.error(toResponseError(snapshot.error()));
        reply.result(kernelsJson(**snapshot, shares.get(), encoding));
    });
}

} // namespace

void registerKernelsRequest(const ServerContext& context) {
    context.connection.onRequest(
        "kernelskill/kernels", [&context](const json& params, Reply& reply, std::stop_source stop) {
            onKernels(context, params, reply, stop);
        });
}

} // namespace kernelskill::lsp
