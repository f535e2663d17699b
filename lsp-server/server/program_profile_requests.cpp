#include "lsp-server/server/program_profile_requests.h"

#include "analysis/source/json.h"
#include "analysis/syntax/lexer.h"
#include "engine/storage/text_hash.h"
#include "lsp-server/documents/closed_document.h"
#include "lsp-server/server/remedies.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Profiled = std::shared_ptr<const ProfiledProgram>;

/// Adds what a run needs of the server's state, all but the program. On the loop's thread.
Result<ProgramProfileRequest> requestFor(const ServerContext& context, const fs::path& root,
                                         ProgramProfileRequest request) {
    const auto& workbench = context.workspace.workbench();
    if (!workbench)
        return std::unexpected(context.workspace.problem());
    request.root = root;
    request.options = context.workspace.options();
    request.workbench = workbench;
    request.reader = [root, workbench,
                      commands = context.workspace.compileCommands()](const fs::path& file) {
        return readDocument(file, root, workbench, *commands);
    };
    return request;
}

/// On a thread of the pool for jobs. `last` are the last profiles of the workspace.
Result<Profiled> profileIn(const ProgramScope& scope, const std::string& name,
                           const ProgramProfiles::ByName& last, ProgramProfileRequest request,
                           const std::stop_token& stop, const WorkDoneProgress& progress) {
    auto workload = engine::chooseProgram(programsOf(scope), name);
    if (!workload)
        return std::unexpected(workload.error());
    if (const auto before = last.find(workload->name); before != last.end())
        request.before = before->second;
    request.workload = std::move(*workload);
    auto profiled =
        profileInBackground(request, stop, [&progress](std::string_view what, double fraction) {
            progress.report(what, fraction);
        });
    if (!profiled)
        return std::unexpected(profiled.error());
    return std::make_shared<const ProfiledProgram>(std::move(*profiled));
}

/// On the loop's thread. A program that failed has run other work than it would: its times are
/// shown, and not kept.
void keep(const ServerContext& context, const Profiled& profiled) {
    if (profiled->report.status != 0)
        return;
    context.programs.keep(profiled);
    context.refreshCodeLenses();
}

/// Answers with the profile once it is kept, so that what the client asks next knows of it.
void profileInJob(const ServerContext& context, ProgramScope scope, std::string name,
                  ProgramProfileRequest request, const json& params, Reply reply,
                  const std::stop_source& stop) {
    auto last = context.programs.of(scope.root);
    auto occupied = context.programs.occupy(scope.root);
    auto job = [&context, scope = std::move(scope), name = std::move(name), last = std::move(last),
                request = std::move(request),
                occupied = std::move(occupied)](Reply answer, const std::stop_token& token,
                                                const WorkDoneProgress& progress) mutable {
        auto profiled = profileIn(scope, name, last, std::move(request), token, progress);
        if (!profiled)
            return answer.error(toResponseErrorWithRemedy(profiled.error()));
        auto document = profiledProgramJson(**profiled);
        context.loop.post([&context, document = std::move(document),
                           profiled = std::move(*profiled), answer = std::move(answer)]() mutable {
            keep(context, profiled);
            if (!context.capabilities.programProfiles)
                context.showMessage(ServerContext::MessageType::Info,
                                    profiledProgramText(*profiled));
            answer.result(std::move(document));
        });
    };
    context.runJob("Profiling the program", params, std::move(reply), stop, std::move(job));
}

} // namespace

void profileProgramCommand(const ServerContext& context, const json& argument, const json& params,
                           Reply& reply, const std::stop_source& stop) {
    if (!context.workspace.options().executionEnabled)
        return reply.error(executionIsOff());
    auto scope = programScopeOrError(context, argument, reply);
    if (!scope)
        return;
    // Read here, where a wrong type is answered with what is wrong.
    ProgramProfileRequest wanted;
    wanted.builds = argument.value("build", true);
    wanted.withDetails = argument.value("details", true);
    wanted.kernel = argument.value("kernel", "");
    const fs::path root = scope->root;
    context.trust.whenTrusted(
        root, [&context, scope = std::move(*scope), wanted = std::move(wanted),
               name = argument.value("name", ""), params, stop,
               reply = std::move(reply)](std::optional<std::string> refusal) mutable {
            if (refusal)
                return reply.error(ErrorCode::RequestFailed, std::move(*refusal));
            auto request = requestFor(context, scope.root, std::move(wanted));
            if (!request)
                return reply.error(toResponseErrorWithRemedy(request.error()));
            profileInJob(context, std::move(scope), std::move(name), std::move(*request), params,
                         std::move(reply), stop);
        });
}

void showProgramProfileCommand(const ServerContext& context, const json& argument, Reply& reply) {
    const auto scope = programScopeOrError(context, argument, reply);
    if (!scope)
        return;
    const auto programs = context.programs.of(scope->root);
    const auto found = programs.find(argument.at("name").get<std::string>());
    if (found == programs.end())
        return reply.result(nullptr);
    if (!context.capabilities.programProfiles)
        context.showMessage(ServerContext::MessageType::Info, profiledProgramText(*found->second));
    context.reads.post([profiled = found->second, reply = std::move(reply)]() mutable {
        reply.result(profiledProgramJson(*profiled));
    });
}

bool SaveProgramProfiling::isOn(const std::string& uri) const {
    const Options& options = context_.workspace.options();
    return options.profileProgramOnSave && options.executionEnabled && context_.isTrusted(uri);
}

std::uint64_t SaveProgramProfiling::codeHash(const std::string& uri) const {
    engine::TextHash hash;
    if (const Document* document = context_.documents.find(uri))
        hash.add(analysis::tokenText(document->text->text()));
    return hash.value();
}

void SaveProgramProfiling::opened(const std::string& uri) {
    if (isOn(uri))
        known_[uri] = codeHash(uri);
}

void SaveProgramProfiling::saved(const std::string& uri) {
    if (!isOn(uri) || context_.documents.find(uri) == nullptr)
        return;
    const std::uint64_t hash = codeHash(uri);
    const std::string root = context_.workspace.trustedUnit(pathOf(uri)).string();
    Workspace& workspace = workspaces_[root];
    if (const auto known = known_.find(uri); known != known_.end() && known->second == hash) {
        // Back to what was profiled: an earlier save that has not been may be of another text.
        if (workspace.saved.erase(uri) == 0)
            return;
    } else {
        workspace.saved[uri] = hash;
    }
    workspace.uri = uri;
    trigger_.saved(root);
}

void SaveProgramProfiling::start(const std::string& root, const std::stop_source& run) {
    Workspace& workspace = workspaces_[root];
    if (workspace.isRunning)
        workspace.waiting = run; // The present run has been asked to stop: it is about to end.
    else if (context_.programs.isOccupied(root))
        trigger_.saved(root); // Later.
    else
        profile(workspace, root, run);
}

void SaveProgramProfiling::profile(Workspace& workspace, const std::string& root,
                                   const std::stop_source& run) {
    auto scope = programScopeOf(context_, workspace.uri);
    ProgramProfileRequest wanted;
    wanted.withDetails = false;
    wanted.runs = {1, mostRuns, std::chrono::seconds(10)};
    auto request = requestFor(context_, root, std::move(wanted));
    if (!scope || !request)
        return;
    workspace.isRunning = true;
    context_.programs.startedOnSave(root, run);
    auto shown =
        context_.progress.begin("Profiling the program that was saved", json::object(), run);
    context_.jobs.post([this, root, scope = std::move(*scope), seen = workspace.saved,
                        last = context_.programs.of(root), request = std::move(*request),
                        token = run.get_token(), shown = std::move(shown)]() mutable {
        auto profiled = profileIn(scope, "", last, std::move(request), token, shown);
        shown.end("");
        context_.loop.post(
            [this, root, seen = std::move(seen), token, profiled = std::move(profiled)] {
                finished(root, seen, token, profiled);
            });
    });
}

void SaveProgramProfiling::finished(const std::string& root, const Hashes& seen,
                                    const std::stop_token& run, const Result<Profiled>& profiled) {
    Workspace& workspace = workspaces_[root];
    workspace.isRunning = false;
    if (workspace.waiting)
        return start(root, *std::exchange(workspace.waiting, std::nullopt));
    if (run.stop_requested())
        return;
    if (!profiled || (*profiled)->report.status != 0) {
        const std::string what =
            !profiled ? profiled.error().describe()
                      : fmt::format("{} ended with status {}", (*profiled)->workload.name,
                                    (*profiled)->report.status);
        context_.log.info("not profiled on save: {}", what);
        if (workspace.told.insert(what).second)
            context_.showMessage(ServerContext::MessageType::Warning,
                                 "The program was not profiled: " + what);
        return;
    }
    workspace.told.clear();
    for (const auto& [uri, hash] : seen) {
        known_[uri] = hash;
        if (const auto waiting = workspace.saved.find(uri);
            waiting != workspace.saved.end() && waiting->second == hash)
            workspace.saved.erase(waiting);
    }
    keep(context_, *profiled);
    if (context_.capabilities.programProfiles) {
        json document = profiledProgramJson(**profiled);
        document["on_save"] = true;
        context_.connection.notify("kernelskill/programProfiled", std::move(document));
        return;
    }
    context_.showMessage(ServerContext::MessageType::Info, profiledProgramSummary(**profiled));
}

} // namespace kernelskill::lsp
