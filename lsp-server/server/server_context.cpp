#include "lsp-server/server/server_context.h"

#include "analysis/source/json.h"
#include "lsp-server/features/diagnostics.h"
#include "lsp-server/features/ignored_findings.h"
#include "lsp-server/server/remedies.h"

#include <spdlog/logger.h>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

void publish(const ServerContext& context, const std::string& uri, int version,
             const std::vector<Diagnostic>& diagnostics) {
    json params{{"uri", uri}, {"diagnostics", diagnostics}};
    if (context.capabilities.diagnosticVersion)
        params["version"] = version;
    context.connection.notify("textDocument/publishDiagnostics", std::move(params));
}

} // namespace

void ServerContext::whenTrusted(const std::string& uri, Reply reply, Execution run) const {
    trust.whenTrusted(pathOf(uri), [this, uri, reply = std::move(reply), run = std::move(run)](
                                       std::optional<std::string> refusal) mutable {
        if (refusal)
            return reply.error(withRemedies({ErrorCode::RequestFailed, std::move(*refusal)},
                                            {{"Manage Trust", RemedyButton::Does::ManageTrust}}));
        const Document* document = documents.find(uri);
        const bool isOlder = document != nullptr && document->worker && !document->isTrusted;
        if (isOlder) // `kernelskill trust` was run meanwhile.
            trust.reload();
        run(std::move(reply));
    });
}

bool ServerContext::isTrusted(const std::string& uri) const {
    return workspace.isTrusted(pathOf(uri));
}

void ServerContext::read(const std::string& uri, Reply reply, std::stop_token stop, Read read,
                         bool unlessModified) const {
    const Document* document = documents.find(uri);
    const int version = document == nullptr ? 0 : document->version;
    documents.whenCurrent(uri, [pool = &reads, reply = std::move(reply), stop = std::move(stop),
                                read = std::move(read), version,
                                unlessModified](auto snapshot) mutable {
        if (!snapshot)
            return reply.error(std::move(snapshot.error()));
        if (unlessModified && (*snapshot)->version != version)
            return reply.error(ErrorCode::ContentModified, "the document changed meanwhile");
        pool->post([reply = std::move(reply), stop = std::move(stop), read = std::move(read),
                    snapshot = std::move(*snapshot)]() mutable {
            if (stop.stop_requested())
                return reply.error(ErrorCode::RequestCancelled, "cancelled");
            reply.result(read(*snapshot));
        });
    });
}

void ServerContext::runJob(std::string title, const json& params, Reply reply,
                           const std::stop_source& stop, Job job) const {
    WorkDoneProgress shown = progress.begin(std::move(title), params, stop);
    jobs.post([job = std::move(job), reply = std::move(reply), token = stop.get_token(),
               shown = std::move(shown)]() mutable {
        try {
            job(std::move(reply), std::move(token), shown);
        } catch (...) {
            shown.end("failed");
            throw;
        }
        shown.end("");
    });
}

void ServerContext::showMessage(MessageType type, const std::string& message) const {
    connection.notify("window/showMessage",
                      {{"type", static_cast<int>(type)}, {"message", message}});
}

void ServerContext::searchHazardFixes(const SnapshotPtr& snapshot,
                                      const analysis::KernelModel& kernel) const {
    jobs.post([this, snapshot, &kernel] {
        const auto fixes = snapshot->workbench->hazardFixes().find({snapshot->program, kernel},
                                                                   std::stop_token{}, {});
        if (!fixes)
            log.warn("fixes of hazards in {}: {}", kernel.qualifiedName, fixes.error().describe());
        else if (!(*fixes)->empty())
            loop.post([this, snapshot] { refresh(snapshot); });
    });
}

void ServerContext::refreshCodeLenses() const {
    if (capabilities.codeLensRefresh)
        connection.request("workspace/codeLens/refresh", json::object(), [](const auto&) {});
}

void ServerContext::refresh(const SnapshotPtr& snapshot) const {
    publishAllDiagnostics(*this, snapshot);
    refreshCodeLenses();
    if (capabilities.inlayHintRefresh)
        connection.request("workspace/inlayHint/refresh", json::object(), [](const auto&) {});
}

void publishParserDiagnostics(const ServerContext& context, const ParseInput& input,
                              const std::vector<analysis::Diagnostic>& diagnostics) {
    if (!context.workspace.options().diagnosticsEnabled)
        return;
    engine::ProgramSource program;
    program.file = input.file.string();
    program.unsaved = input.unsaved;
    TextLookup texts(program);
    publish(context, input.uri, input.version,
            toProtocol(diagnostics, program.file, *input.text, texts, context.capabilities));
}

void publishAllDiagnostics(const ServerContext& context, const SnapshotPtr& snapshot) {
    const Options& options = context.workspace.options();
    const Document* document = context.documents.find(snapshot->uri);
    if (!options.diagnosticsEnabled || document == nullptr ||
        document->version != snapshot->version)
        return;
    std::vector<analysis::Diagnostic> all = snapshot->model().diagnostics;
    const auto fromParser = static_cast<std::size_t>(
        std::ranges::count_if(all, [](const analysis::Diagnostic& diagnostic) {
            return diagnostic.origin != analysis::DiagnosticOrigin::Device;
        }));
    std::ranges::move(pinDiagnostics(*snapshot), std::back_inserter(all));
    std::ranges::move(launchDiagnostics(*snapshot), std::back_inserter(all));
    std::ranges::move(wasteDiagnostics(*snapshot), std::back_inserter(all));
    if (options.hazardDiagnostics)
        std::ranges::move(hazardDiagnostics(*snapshot), std::back_inserter(all));
    ignoreFindings(all, snapshot->model().file, snapshot->source());
    if (all.size() == fromParser)
        return; // publishParserDiagnostics has said it all.
    TextLookup texts(snapshot->program);
    publish(
        context, snapshot->uri, snapshot->version,
        toProtocol(all, snapshot->model().file, snapshot->source(), texts, context.capabilities));
}

void clearDiagnostics(const ServerContext& context, const std::string& uri) {
    context.connection.notify("textDocument/publishDiagnostics",
                              {{"uri", uri}, {"diagnostics", json::array()}});
}

} // namespace kernelskill::lsp
