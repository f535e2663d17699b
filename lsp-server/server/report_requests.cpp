// kernelskill/report: a page about one kernel or all kernels of a document.
#include "analysis/source/json.h"
#include "lsp-server/report/file_page.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/verification_page.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/kept_judgements.h"
#include "lsp-server/server/remedies.h"
#include "lsp-server/server/server_context.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// A kernel with a profile is not run again.
Result<engine::KernelReport> knownOrProfiled(const Snapshot& snapshot,
                                             const analysis::KernelModel& kernel, bool isOnGpu,
                                             const std::stop_token& stop,
                                             const engine::ProgressSink& say) {
    const engine::Workbench& workbench = *snapshot.workbench;
    auto known = workbench.knowledge().cachedReport({snapshot.program, kernel});
    if (known && (known->measurement || !isOnGpu))
        return std::move(*known);
    return isOnGpu ? workbench.profiler().profileOnGpu({snapshot.program, kernel}, stop, say)
                   : workbench.profiler().profile({snapshot.program, kernel}, stop, say);
}

/// Adds to the section of each kernel how its text was judged, if that was verified.
void addJudgements(const Snapshot& snapshot, const KeptJudgements::OfKernels& judgements,
                   Report& report) {
    for (ReportSection& section : report.sections) {
        const auto kept = judgements.find(section.title);
        const auto* kernel = analysis::kernelNamed(snapshot.model(), section.title);
        if (kept != judgements.end() && kernel != nullptr &&
            kept->second->definition == engine::definitionOf(snapshot.model(), *kernel))
            section.sections.insert(section.sections.begin(),
                                    judgementSection(kept->second->judged, kept->second->against));
    }
}

void answer(const SnapshotPtr& snapshot, const std::vector<const analysis::KernelModel*>& kernels,
            const KeptJudgements::OfKernels& judgements, bool isOnGpu, Reply reply,
            const std::stop_token& stop, const WorkDoneProgress& progress) {
    std::vector<ProfiledKernel> profiled;
    for (const analysis::KernelModel* kernel : kernels) {
        const auto say = [&](std::string_view what, double part) {
            progress.report(what, (static_cast<double>(profiled.size()) + part) /
                                      static_cast<double>(kernels.size()));
        };
        profiled.push_back({kernel, knownOrProfiled(*snapshot, *kernel, isOnGpu, stop, say)});
        if (stop.stop_requested())
            return reply.error(ErrorCode::RequestCancelled, "cancelled");
    }
    const auto name = std::filesystem::path(snapshot->model().file).filename().string();
    Report report = profileReport(*snapshot, std::move(profiled), name);
    addJudgements(*snapshot, judgements, report);
    report.footer = reportFooter("kernelskill/report");
    reply.result({{"title", report.title}, {"html", writeReport(report)}});
}

void onReport(const ServerContext& context, const json& params, Reply& reply,
              const std::stop_source& stop) {
    const std::string uri = textDocumentUri(params);
    const std::string executor = params.value("on", "emulator");
    if (executor != "emulator" && executor != "gpu")
        return reply.error(ErrorCode::InvalidParams,
                           "'on' is \"emulator\" or \"gpu\", not \"" + executor + "\"");
    if (!context.workspace.options().executionEnabled)
        return reply.error(executionIsOff());
    const bool isOnGpu = executor == "gpu";
    auto run = [&context, uri, params, stop, isOnGpu](Reply trusted) {
        context.documents.whenCurrent(uri, [&context, uri, params, stop, isOnGpu,
                                            reply = std::move(trusted)](auto outcome) mutable {
            if (!outcome)
                return reply.error(std::move(outcome.error()));
            const SnapshotPtr snapshot = std::move(*outcome);
            std::vector<const analysis::KernelModel*> kernels;
            if (params.contains("kernel") || params.contains("line") ||
                params.contains("position")) {
                const auto target = findTarget(*snapshot, params);
                if (!target)
                    return reply.error(toResponseError(target.error()));
                kernels.push_back(target->kernel);
            } else {
                for (const analysis::KernelModel& kernel : snapshot->model().kernels)
                    kernels.push_back(&kernel);
            }
            context.runJob(
                "Writing a report", params, std::move(reply), stop,
                [&context, snapshot, kernels = std::move(kernels), isOnGpu,
                 judgements =
                     context.judgements.of(uri)](Reply late, const std::stop_token& token,
                                                 const WorkDoneProgress& progress) mutable {
                    answer(snapshot, kernels, judgements, isOnGpu, std::move(late), token,
                           progress);
                    context.loop.post([&context, snapshot] { context.refresh(snapshot); });
                });
        });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

} // namespace

void registerReportRequest(const ServerContext& context) {
    context.connection.onRequest(
        "kernelskill/report", [&context](const json& params, Reply& reply, std::stop_source stop) {
            onReport(context, params, reply, stop);
        });
}

} // namespace kernelskill::lsp
