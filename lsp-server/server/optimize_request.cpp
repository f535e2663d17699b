#include "lsp-server/server/optimize_request.h"

#include "analysis/source/json.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/optimization_json.h"
#include "lsp-server/report/optimization_report.h"
#include "lsp-server/server/chosen_model.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/remedies.h"
#include "lsp-server/server/search_arguments.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// Throws an error that becomes InvalidParams.
engine::OptimizationOptions optionsFrom(const json& argument) {
    engine::OptimizationOptions options;
    options.rounds = roundsFrom(argument, options.rounds);
    options.time = secondsFrom(argument, options.time);
    return options;
}

/// On the loop's thread.
void finish(const ServerContext& context, const SnapshotPtr& snapshot,
            const engine::Optimization& found, bool withReport, Reply reply) {
    TextLookup texts(snapshot->program);
    json result = optimizationJson(found, snapshot->program.file, texts,
                                   context.capabilities.positionEncoding);
    result["applied"] = false;
    if (withReport) {
        const auto name = std::filesystem::path(snapshot->program.file).filename().string();
        const Report report = optimizationReport(found, name, "kernelskill.optimize");
        result["report"] = {{"title", report.title}, {"html", writeReport(report)}};
    }
    if (!found.notRemembered.empty())
        context.showMessage(ServerContext::MessageType::Warning,
                            "The search is not remembered: " + found.notRemembered);
    if (!found.isImproved() || found.stop == engine::StopReason::Cancelled) {
        context.showMessage(ServerContext::MessageType::Info, summaryOf(found));
        return reply.result(std::move(result));
    }
    const Document* document = context.documents.find(snapshot->uri);
    if (document == nullptr || document->version != snapshot->version)
        return reply.error(ErrorCode::ContentModified,
                           "the document changed while the kernel was optimised; the next time the "
                           "search goes on where it was");
    applyInEditor(context, *snapshot,
                  {.label = fmt::format("Optimize kernel '{}'", found.kernel),
                   .description = summaryOf(found),
                   .needsConfirmation = context.workspace.options().previewOptimize,
                   .notice = summaryOf(found)},
                  found.edits, std::move(result), std::move(reply));
}

void optimize(const ServerContext& context, const SnapshotPtr& snapshot,
              const analysis::KernelModel& kernel, engine::OptimizationOptions options,
              bool withReport, const json& params, Reply reply, const std::stop_source& stop) {
    context.runJob(
        fmt::format("Optimizing '{}'", kernel.name), params, std::move(reply), stop,
        [&context, snapshot, &kernel, options, withReport,
         model = languageModel(context, context.isTrusted(snapshot->uri))](
            Reply answer, const std::stop_token& token, const WorkDoneProgress& progress) mutable {
            options.measure = snapshot->workbench->machines().gpu().has_value();
            auto found = snapshot->workbench->advisor().optimize(
                {snapshot->program, kernel}, options, snapshot->memory(), token,
                [&progress](std::string_view what, double fraction) {
                    progress.report(what, fraction);
                },
                model.get());
            if (!found)
                return answer.error(toResponseErrorWithRemedy(found.error()));
            context.loop.post([&context, snapshot, withReport, found = std::move(*found),
                               answer = std::move(answer)]() mutable {
                finish(context, snapshot, found, withReport, std::move(answer));
            });
        });
}

} // namespace

void optimizeCommand(const ServerContext& context, const json& argument, const json& params,
                     Reply& reply, const std::stop_source& stop) {
    if (!context.workspace.options().executionEnabled)
        return reply.error(executionIsOff());
    const auto options = optionsFrom(argument);
    const bool withReport = argument.value("report", false);
    const std::string uri = argument.at("uri").get<std::string>();
    auto run = [&context, uri, argument, params, options, withReport, stop](Reply trusted) {
        context.documents.whenCurrent(uri, [&context, argument, params, options, withReport, stop,
                                            reply = std::move(trusted)](auto outcome) mutable {
            if (!outcome)
                return reply.error(std::move(outcome.error()));
            const SnapshotPtr snapshot = std::move(*outcome);
            if (const auto version = argument.find("version");
                version != argument.end() && version->template get<int>() != snapshot->version)
                return reply.error(ErrorCode::ContentModified,
                                   "the action was made for another version of the document: ask "
                                   "for code actions again");
            const auto target = findTarget(*snapshot, argument);
            if (!target)
                return reply.error(toResponseError(target.error()));
            optimize(context, snapshot, *target->kernel, options, withReport, params,
                     std::move(reply), stop);
        });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

} // namespace kernelskill::lsp
