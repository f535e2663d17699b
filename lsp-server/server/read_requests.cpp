// Requests that read a snapshot: each is answered in well under 5 ms once the text is parsed.
#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "lsp-server/features/code_actions.h"
#include "lsp-server/features/code_lens.h"
#include "lsp-server/features/hazard_fixes.h"
#include "lsp-server/features/hover.h"
#include "lsp-server/features/inlay_hints.h"
#include "lsp-server/features/memory.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/server/head_texts.h"
#include "lsp-server/server/program_profiles.h"
#include "lsp-server/server/server_context.h"

#include <tuple>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// Markdown for clients that show it; the same text reads well enough plain.
json hoverJson(const Snapshot& snapshot, const HoverContent& content,
               const ClientCapabilities& capabilities) {
    return {{"contents",
             {{"kind", capabilities.hoverMarkdown ? "markdown" : "plaintext"},
              {"value", content.markdown}}},
            {"range", toRange(snapshot.source(), content.span, capabilities.positionEncoding)}};
}

void onHover(const ServerContext& context, const json& params, Reply& reply,
             const std::stop_source& stop) {
    const auto [uri, position] = params.get<TextDocumentPositionParams>();
    context.read(
        uri, std::move(reply), stop.get_token(),
        [position = position, &capabilities = context.capabilities](const Snapshot& snapshot) {
            const auto content = hover(
                snapshot, toOffset(snapshot.source(), position, capabilities.positionEncoding),
                capabilities.foldedHover ? Details::Folded : Details::Below);
            return content ? hoverJson(snapshot, *content, capabilities) : json(nullptr);
        });
}

void onCodeAction(const ServerContext& context, const json& params, Reply& reply,
                  const std::stop_source& stop) {
    const auto [uri, range] = params.get<TextDocumentRangeParams>();
    const json& actionContext = params.at("context");
    std::vector<std::string> only;
    if (const auto kinds = actionContext.find("only"); kinds != actionContext.end())
        kinds->get_to(only);
    json diagnostics = actionContext.value("diagnostics", json::array());
    // The editor itself asks as the cursor moves: it does not wait for what has to be run first.
    const bool isAutomatic = actionContext.value("triggerKind", 1) == 2;
    const Document* document = context.documents.find(uri);
    const int version = document == nullptr ? 0 : document->version;

    context.documents.whenCurrent(uri, [&context, uri = uri, range = range, only = std::move(only),
                                        diagnostics = std::move(diagnostics), version, isAutomatic,
                                        token = stop.get_token(),
                                        reply = std::move(reply)](auto outcome) mutable {
        if (!outcome)
            return reply.error(std::move(outcome.error()));
        const SnapshotPtr snapshot = std::move(*outcome);
        const Document* current = context.documents.find(uri);
        if (snapshot->version != version || current == nullptr)
            return reply.error(ErrorCode::ContentModified, "the document changed meanwhile");
        const analysis::Span span =
            toSpan(snapshot->source(), range, context.capabilities.positionEncoding);
        const bool mayRun = context.workspace.options().executionEnabled;
        const bool mayWait =
            mayRun && context.isTrusted(uri) && !isAutomatic && isWanted(only, "quickfix");
        auto answer = [&context, snapshot, span, only = std::move(only),
                       diagnostics = std::move(diagnostics), token = std::move(token), mayRun,
                       mayWait, reply = std::move(reply)](Fixes fixes) mutable {
            context.reads.post([&context, snapshot, span, only = std::move(only),
                                diagnostics = std::move(diagnostics), token = std::move(token),
                                mayRun, mayWait, fixes = std::move(fixes),
                                reply = std::move(reply)]() mutable {
                auto finish = [&context, snapshot, span, only = std::move(only),
                               diagnostics = std::move(diagnostics), token, mayRun,
                               fixes = std::move(fixes), reply = std::move(reply)]() mutable {
                    if (token.stop_requested())
                        return reply.error(ErrorCode::RequestCancelled, "cancelled");
                    const CodeActionRequest request{span, std::move(only), diagnostics, mayRun};
                    reply.result(codeActions(*snapshot, request, fixes, context.capabilities));
                };
                auto kernels = mayWait ? kernelsWithoutHazardFixes(*snapshot, span)
                                       : std::vector<const analysis::KernelModel*>{};
                if (kernels.empty())
                    return finish();
                context.jobs.post([snapshot, kernels = std::move(kernels), token,
                                   finish = std::move(finish)]() mutable {
                    for (const analysis::KernelModel* kernel : kernels)
                        std::ignore = snapshot->workbench->hazardFixes().find(
                            {snapshot->program, *kernel}, token, {});
                    finish();
                });
            });
        };
        // Fixes are found in the background after each parse; they are waited for only where one
        // may be.
        if (mayHaveFixAt(*snapshot, span))
            current->worker->whenFixesReady(snapshot->generation, std::move(answer));
        else
            answer(nullptr);
    });
}

void onCodeLens(const ServerContext& context, const json& params, Reply& reply,
                const std::stop_source& stop) {
    const std::string uri = textDocumentUri(params);
    if (!context.workspace.options().codeLensEnabled)
        return reply.result(json::array());
    context.read(
        uri, std::move(reply), stop.get_token(),
        [mayRun = context.workspace.options().executionEnabled,
         encoding = context.capabilities.positionEncoding, head = context.head.tokensOf(uri),
         program = context.programs.sharesOf(analysis::canonicalPath(pathOf(uri)))](
            const Snapshot& snapshot) {
            return codeLenses(snapshot, {mayRun, head.get(), program.get()}, encoding);
        },
        true);
}

void onResolveCodeLens(const ServerContext& context, const json& params, Reply& reply,
                       const std::stop_source& stop) {
    const std::string uri = params.at("data").at("uri").get<std::string>();
    params.at("data").at("kernel").get<std::string>();
    params.at("data").at("what").get<std::string>();
    context.read(uri, std::move(reply), stop.get_token(),
                 [params](const Snapshot& snapshot) { return resolveCodeLens(snapshot, params); });
}

void onInlayHint(const ServerContext& context, const json& params, Reply& reply,
                 const std::stop_source& stop) {
    const auto [uri, range] = params.get<TextDocumentRangeParams>();
    if (!context.workspace.options().inlayHintsEnabled)
        return reply.result(json::array());
    context.read(
        uri, std::move(reply), stop.get_token(),
        [range = range,
         encoding = context.capabilities.positionEncoding](const Snapshot& snapshot) {
            return json(inlayHints(snapshot, toSpan(snapshot.source(), range, encoding), encoding));
        },
        true);
}

void onMemory(const ServerContext& context, const json& params, Reply& reply) {
    const auto path = pathFromUri(textDocumentUri(params));
    if (!path)
        return reply.error(ErrorCode::InvalidParams, "only files have a memory");
    context.reads.post(
        [root = context.workspace.rootOf(*path), path = *path, reply = std::move(reply)]() mutable {
            auto report = memoryReport(root, path);
            if (report)
                reply.result(std::move(*report));
            else
                reply.error(toResponseError(report.error()));
        });
}

} // namespace

void registerReadRequests(const ServerContext& context) {
    using Handler = void (*)(const ServerContext&, const json&, Reply&, const std::stop_source&);
    const auto add = [&context](const char* method, Handler handler) {
        context.connection.onRequest(
            method, [&context, handler](const json& params, Reply& reply, std::stop_source stop) {
                handler(context, params, reply, stop);
            });
    };
    add("textDocument/hover", onHover);
    add("textDocument/codeAction", onCodeAction);
    add("textDocument/codeLens", onCodeLens);
    add("codeLens/resolve", onResolveCodeLens);
    add("textDocument/inlayHint", onInlayHint);
    context.connection.onRequest("kernelskill/memory",
                                 [&context](const json& params, Reply& reply, std::stop_source) {
                                     onMemory(context, params, reply);
                                 });
}

} // namespace kernelskill::lsp
