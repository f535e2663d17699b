/// The state that the request handlers share.
#pragma once

#include "lsp-server/documents/document_manager.h"
#include "lsp-server/protocol/client_capabilities.h"
#include "lsp-server/server/trust_gate.h"
#include "lsp-server/server/work_done_progress.h"
#include "lsp-server/transport/connection.h"
#include "lsp-server/transport/event_loop.h"
#include "lsp-server/workspace/workspace.h"

#include <nlohmann/json_fwd.hpp>
#include <spdlog/fwd.h>

#include <functional>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

class HeadTexts;
class KeptJudgements;
class ProgramProfiles;

/// Everything here belongs to the loop's thread, except that Connection::notify, EventLoop::post
/// and the pools may be used anywhere. Outlives every task of the pools.
struct ServerContext {
    EventLoop& loop;
    spdlog::logger& log;
    Connection& connection;
    WorkerPool& reads; ///< Short answers out of a snapshot.
    WorkerPool& jobs;  ///< Profiles and reviews.
    Workspace& workspace;
    DocumentManager& documents;
    ProgressRegistry& progress;
    const ClientCapabilities& capabilities;
    TrustGate& trust;
    HeadTexts& head;
    KeptJudgements& judgements;
    ProgramProfiles& programs;

    /// Calls `run` on the loop's thread if kernels of the document may be compiled and run, maybe
    /// after the user has been asked; else answers with the reason. On the loop's thread.
    using Execution = std::move_only_function<void(Reply)>;
    void whenTrusted(const std::string& uri, Reply reply, Execution run) const;
    /// Whether the user trusts the document's code; does not ask.
    [[nodiscard]] bool isTrusted(const std::string& uri) const;

    /// Answers out of the snapshot of the text that the client sees now, on the pool for reads.
    /// With `unlessModified` an edit that arrives before the snapshot is ready answers
    /// ContentModified.
    using Read = std::function<nlohmann::json(const Snapshot&)>;
    void read(const std::string& uri, Reply reply, std::stop_token stop, Read read,
              bool unlessModified = false) const;

    /// Runs slow work on the pool for jobs, with progress and cancellation. `job` answers through
    /// its Reply, which Connection::request may outlive.
    using Job = std::move_only_function<void(Reply, std::stop_token, const WorkDoneProgress&)>;
    void runJob(std::string title, const nlohmann::json& params, Reply reply,
                const std::stop_source& stop, Job job) const;

    enum class MessageType : int { Error = 1, Warning = 2, Info = 3 };
    void showMessage(MessageType type, const std::string& message) const;

    /// Looks on the pool for jobs for fixes of the kernel's hazards, which profile() has found, and
    /// refreshes if there are any.
    void searchHazardFixes(const SnapshotPtr& snapshot, const analysis::KernelModel& kernel) const;

    /// Asks the client to fetch lenses again.
    void refreshCodeLenses() const;

    /// Publishes what is known of the snapshot again and asks the client to fetch lenses and hints
    /// again.
    void refresh(const SnapshotPtr& snapshot) const;
};

/// Diagnostics of an open document: what the parser says, and all that is known once there is a
/// model.
void publishParserDiagnostics(const ServerContext& context, const ParseInput& input,
                              const std::vector<analysis::Diagnostic>& diagnostics);
void publishAllDiagnostics(const ServerContext& context, const SnapshotPtr& snapshot);
/// The diagnostics that an editor shows for a document that is closed.
void clearDiagnostics(const ServerContext& context, const std::string& uri);

void registerReadRequests(const ServerContext& context);
void registerEditRequests(const ServerContext& context);
void registerCommands(const ServerContext& context);
void registerReportRequest(const ServerContext& context);
void registerAssembly(const ServerContext& context);
void registerKernelsRequest(const ServerContext& context);
void registerProgramsRequest(const ServerContext& context);

} // namespace kernelskill::lsp
