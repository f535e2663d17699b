// workspace/executeCommand and kernelskill/profile.
#include "analysis/source/json.h"
#include "lsp-server/features/hover.h"
#include "lsp-server/features/memory.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/report/ruled_out_text.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/generate_request.h"
#include "lsp-server/server/model_request.h"
#include "lsp-server/server/optimize_program_request.h"
#include "lsp-server/server/optimize_request.h"
#include "lsp-server/server/program_profile_requests.h"
#include "lsp-server/server/program_requests.h"
#include "lsp-server/server/remedies.h"
#include "lsp-server/server/server_context.h"
#include "lsp-server/server/verify_request.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

void profile(const ServerContext& context, const std::string& uri, const json& argument,
             const json& params, Reply& reply, const std::stop_source& stop) {
    if (!context.workspace.options().executionEnabled)
        return reply.error(executionIsOff());
    const std::string executor = argument.value("on", "emulator");
    const std::string& configured = context.workspace.options().gpuOn; // "gpu" or "slurm"
    if (executor != "emulator" && executor != "gpu" && executor != configured)
        return reply.error(
            ErrorCode::InvalidParams,
            fmt::format("'on' is \"emulator\", \"gpu\" (where kernelskill.gpu.on says: "
                        "\"{}\") or \"slurm\" if that says so, not \"{}\"",
                        configured, executor));
    const bool isOnGpu = executor != "emulator";
    auto run = [&context, uri, argument, params, stop, isOnGpu](Reply trusted) {
        context.documents.whenCurrent(uri, [&context, argument, params, stop, isOnGpu,
                                            reply = std::move(trusted)](auto outcome) mutable {
            if (!outcome)
                return reply.error(std::move(outcome.error()));
            const SnapshotPtr snapshot = std::move(*outcome);
            const auto target = findTarget(*snapshot, argument);
            if (!target)
                return reply.error(toResponseError(target.error()));
            context.runJob(
                fmt::format("Profiling '{}'{}", target->kernel->name, isOnGpu ? " on the GPU" : ""),
                params, std::move(reply), stop,
                [&context, snapshot, isOnGpu,
                 kernel = target->kernel](Reply answer, const std::stop_token& token,
                                          const WorkDoneProgress& progress) mutable {
                    const auto say = [&progress](std::string_view what, double fraction) {
                        progress.report(what, fraction);
                    };
                    const auto& workbench = *snapshot->workbench;
                    const auto report =
                        isOnGpu ? workbench.profiler().profileOnGpu({snapshot->program, *kernel},
                                                                    token, say)
                                : workbench.profiler().profile({snapshot->program, *kernel}, token,
                                                               say, engine::Profiler::Facts::Later);
                    if (!report)
                        return answer.error(toResponseErrorWithRemedy(report.error()));
                    answer.result(profileJson(*report));
                    context.loop.post([&context, snapshot] { context.refresh(snapshot); });
                    if (!report->profile->hazards.empty())
                        context.searchHazardFixes(snapshot, *kernel);
                });
        });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

void explain(const ServerContext& context, const json& argument, Reply& reply,
             const std::stop_source& stop) {
    context.read(
        argument.at("uri").get<std::string>(), std::move(reply), stop.get_token(),
        [&context, argument](const Snapshot& snapshot) {
            const auto target = findTarget(snapshot, argument);
            if (!target)
                return json(nullptr);
            const auto bottleneck =
                snapshot.workbench->knowledge().diagnosis({snapshot.program, *target->kernel});
            std::string text =
                fmt::format("{}: {}.", target->kernel->qualifiedName, spelling(bottleneck->kind));
            for (const engine::Evidence& evidence : bottleneck->evidence)
                text += " " + evidence.text + (evidence.text.ends_with('.') ? "" : ".");
            context.showMessage(ServerContext::MessageType::Info, text);
            return json{{"markdown", describeKernel(snapshot, *target->kernel, Details::Below)},
                        {"bottleneck", bottleneckJson(*bottleneck)}};
        });
}

/// Says why no edit is offered for the kernel, in one notice; the whole list is in the answer.
void explainOffers(const ServerContext& context, const json& argument, Reply& reply,
                   const std::stop_source& stop) {
    context.read(argument.at("uri").get<std::string>(), std::move(reply), stop.get_token(),
                 [&context, argument](const Snapshot& snapshot) {
                     const auto target = findTarget(snapshot, argument);
                     if (!target)
                         return json(nullptr);
                     const engine::Plan plan = snapshot.workbench->advisor().plan(
                         {snapshot.program, *target->kernel}, target->kernel->span,
                         snapshot.memory());
                     context.showMessage(ServerContext::MessageType::Info,
                                         whyNothingIsOffered(target->kernel->name, plan));
                     json reasons = json::array();
                     for (const engine::RuledOut& skill : plan.ruledOut)
                         reasons.push_back({{"skill", skill.skill}, {"why", skill.why}});
                     return json{{"ruled_out", std::move(reasons)}};
                 });
}

void showMemory(const ServerContext& context, const json& argument, Reply& reply) {
    const auto path = pathFromUri(argument.at("uri").get<std::string>());
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

void onExecuteCommand(const ServerContext& context, const json& params, Reply& reply,
                      const std::stop_source& stop) {
    const std::string command = params.at("command").get<std::string>();
    const json argument = params.contains("arguments") && !params.at("arguments").empty()
                              ? params.at("arguments").at(0)
                              : json::object();
    if (command == "kernelskill.profile")
        return profile(context, argument.at("uri").get<std::string>(), argument, params, reply,
                       stop);
    if (command == "kernelskill.applySkill")
        return applySkillCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.applyFix")
        return applyFixCommand(context, argument, reply);
    if (command == "kernelskill.optimize")
        return optimizeCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.optimizeProgram")
        return optimizeProgramCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.verify")
        return verifyCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.generate")
        return generateCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.generateModel")
        return generateModelCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.repair")
        return repairCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.showMemory")
        return showMemory(context, argument, reply);
    if (command == "kernelskill.explain")
        return explain(context, argument, reply, stop);
    if (command == "kernelskill.explainOffers")
        return explainOffers(context, argument, reply, stop);
    if (command == "kernelskill.pinLaunch")
        return pinLaunchCommand(context, argument, reply);
    if (command == "kernelskill.tellApplied")
        return tellAppliedCommand(context, argument, reply);
    if (command == "kernelskill.pickProgram")
        return pickProgramCommand(context, argument, reply);
    if (command == "kernelskill.runProgram")
        return runProgramCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.profileProgram")
        return profileProgramCommand(context, argument, params, reply, stop);
    if (command == "kernelskill.showProgramProfile")
        return showProgramProfileCommand(context, argument, reply);
    reply.error(ErrorCode::InvalidParams, "unknown command '" + command + "'");
}

} // namespace

void registerCommands(const ServerContext& context) {
    context.connection.onRequest(
        "workspace/executeCommand",
        [&context](const json& params, Reply& reply, std::stop_source stop) {
            onExecuteCommand(context, params, reply, stop);
        });
    context.connection.onRequest(
        "kernelskill/profile", [&context](const json& params, Reply& reply, std::stop_source stop) {
            profile(context, textDocumentUri(params), params, params, reply, stop);
        });
}

} // namespace kernelskill::lsp
