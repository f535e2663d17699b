// kernelskill/programs, and the commands that pick and run one.
#include "lsp-server/server/program_requests.h"

#include "analysis/source/json.h"
#include "engine/program/command_words.h"
#include "engine/program/workload_json.h"
#include "engine/program/workload_run.h"
#include "lsp-server/report/workload_report.h"
#include "lsp-server/server/program_scope.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t maxChoices = 8;           // of a question: each is a button
constexpr std::size_t maxAnsweredOutput = 8192; // bytes

void keep(const ServerContext& context, const ProgramScope& scope, const engine::Workload& workload,
          Reply& reply) {
    if (const auto kept = engine::rememberProgram(scope.root, workload.name); !kept)
        return reply.error(toResponseError(kept.error()));
    context.showMessage(ServerContext::MessageType::Info,
                        "KernelSkill takes the program " + workloadTitle(workload));
    reply.result(engine::workloadJson(workload));
}

/// Asks which of the programs is meant. On the loop's thread.
void ask(const ServerContext& context, ProgramScope scope, std::vector<engine::Workload> workloads,
         Reply reply) {
    std::string message = "Which program runs this workspace's kernels?";
    json actions = json::array();
    for (const engine::Workload& workload : workloads) {
        if (actions.size() == maxChoices)
            break;
        message += "\n" + workloadTitle(workload);
        actions.push_back({{"title", workload.name}});
    }
    context.connection.request(
        "window/showMessageRequest",
        {{"type", 3}, {"message", std::move(message)}, {"actions", std::move(actions)}},
        [&context, scope = std::move(scope), workloads = std::move(workloads),
         reply = std::move(reply)](const auto& answer) mutable {
            const std::string title =
                answer && answer->is_object() ? answer->value("title", "") : "";
            const auto picked = std::ranges::find(workloads, title, &engine::Workload::name);
            if (picked == workloads.end())
                return reply.result(nullptr);
            keep(context, scope, *picked, reply);
        });
}

std::string endOf(const std::string& text) {
    return text.size() <= maxAnsweredOutput ? text : text.substr(text.size() - maxAnsweredOutput);
}

/// Runs the program on the pool for jobs.
void runJob(const ServerContext& context, ProgramScope scope, const json& argument,
            const json& params, Reply reply, const std::stop_source& stop) {
    context.runJob(
        "Running the program", params, std::move(reply), stop,
        [&context, scope = std::move(scope), name = argument.value("name", ""),
         builds = argument.value("build", true)](Reply answer, const std::stop_token& token,
                                                 const WorkDoneProgress& progress) {
            const auto workload = engine::chooseProgram(programsOf(scope), name);
            if (!workload)
                return answer.error(toResponseError(workload.error()));
            engine::WorkloadRunOptions options;
            options.builds = builds;
            options.onStep = [&](std::string_view step, const std::vector<std::string>& command) {
                progress.report(fmt::format("{}: {}", step, engine::commandText(command)), 0);
            };
            const auto run = engine::runWorkload(*workload, options, token);
            if (!run)
                return answer.error(toResponseError(run.error()));
            json document = workloadRunJson(*workload, *run);
            document["output"] = endOf(run->output);
            context.showMessage(run->failure ? ServerContext::MessageType::Warning
                                             : ServerContext::MessageType::Info,
                                workloadRunText(*workload, *run));
            answer.result(std::move(document));
        });
}

} // namespace

void pickProgramCommand(const ServerContext& context, const json& argument, Reply& reply) {
    auto scope = programScopeOrError(context, argument, reply);
    if (!scope)
        return;
    context.reads.post([&context, scope = std::move(*scope), name = argument.value("name", ""),
                        reply = std::move(reply)]() mutable {
        auto programs = programsOf(scope);
        if (!name.empty() || programs.workloads.empty()) {
            const auto workload = engine::chooseProgram(programs, name);
            return workload ? keep(context, scope, *workload, reply)
                            : reply.error(toResponseError(workload.error()));
        }
        context.loop.post([&context, scope = std::move(scope),
                           workloads = std::move(programs.workloads),
                           reply = std::move(reply)]() mutable {
            ask(context, std::move(scope), std::move(workloads), std::move(reply));
        });
    });
}

void runProgramCommand(const ServerContext& context, const json& argument, const json& params,
                       Reply& reply, const std::stop_source& stop) {
    if (!context.workspace.options().executionEnabled)
        return reply.error(ErrorCode::RequestFailed,
                           "running code is turned off (kernelskill.execution.enabled)");
    auto scope = programScopeOrError(context, argument, reply);
    if (!scope)
        return;
    const fs::path root = scope->root;
    context.trust.whenTrusted(
        root, [&context, scope = std::move(*scope), argument, params, stop,
               reply = std::move(reply)](std::optional<std::string> refusal) mutable {
            if (refusal)
                return reply.error(ErrorCode::RequestFailed, std::move(*refusal));
            runJob(context, std::move(scope), argument, params, std::move(reply), stop);
        });
}

void registerProgramsRequest(const ServerContext& context) {
    context.connection.onRequest(
        "kernelskill/programs", [&context](const json& params, Reply& reply, std::stop_source) {
            const json document = params.value("textDocument", json::object());
            auto scope = programScopeOrError(context, document, reply);
            if (!scope)
                return;
            context.reads.post([scope = std::move(*scope), reply = std::move(reply)]() mutable {
                reply.result(programsJson(programsOf(scope)));
            });
        });
}

} // namespace kernelskill::lsp
