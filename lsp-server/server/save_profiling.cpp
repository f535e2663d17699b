#include "lsp-server/server/save_profiling.h"

#include "analysis/source/json.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <utility>

namespace kernelskill::lsp {
namespace {

/// On the GPU where there is one and it can run the kernel, else on the emulator.
Result<engine::KernelReport> profileAnywhere(const Snapshot& snapshot,
                                             const analysis::KernelModel& kernel,
                                             const std::stop_token& stop,
                                             const engine::ProgressSink& say) {
    const engine::Workbench& workbench = *snapshot.workbench;
    if (workbench.machines().offersGpu()) {
        auto measured = workbench.profiler().profileOnGpu({snapshot.program, kernel}, stop, say);
        if (measured || stop.stop_requested())
            return measured;
    }
    return workbench.profiler().profile({snapshot.program, kernel}, stop, say,
                                        engine::Profiler::Facts::Later);
}

} // namespace

bool SaveProfiling::isOn(const std::string& uri) const {
    const Options& options = context_.workspace.options();
    return context_.isTrusted(uri) && options.profileOnSave && options.executionEnabled;
}

void SaveProfiling::parsed(const SnapshotPtr& snapshot) {
    const auto [entry, isNew] = documents_.try_emplace(snapshot->uri);
    if (!isNew)
        return;
    for (const analysis::KernelModel& kernel : snapshot->model().kernels)
        entry->second.known[kernel.qualifiedName] =
            snapshot->workbench->knowledge().runHash({snapshot->program, kernel});
}

void SaveProfiling::saved(const std::string& uri) {
    if (documents_.contains(uri) && isOn(uri))
        trigger_.saved(uri);
}

void SaveProfiling::closed(const std::string& uri) {
    trigger_.closed(uri);
    documents_.erase(uri);
}

void SaveProfiling::start(const std::string& uri, const std::stop_source& run) {
    context_.documents.whenCurrent(uri, [this, run](auto snapshot) {
        if (snapshot && !run.stop_requested())
            profile(*snapshot, run);
    });
}

std::vector<const analysis::KernelModel*> SaveProfiling::changedKernels(const Snapshot& snapshot,
                                                                        Document& document) {
    std::vector<const analysis::KernelModel*> changed;
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        if (!snapshot.isInMainFile(kernel))
            continue;
        const std::uint64_t hash =
            snapshot.workbench->knowledge().runHash({snapshot.program, kernel});
        const auto known = document.known.find(kernel.qualifiedName);
        if (known != document.known.end() && known->second == hash)
            continue;
        if (snapshot.workbench->knowledge().cachedProfile({snapshot.program, kernel}))
            document.known[kernel.qualifiedName] = hash;
        else
            changed.push_back(&kernel);
    }
    return changed;
}

void SaveProfiling::profile(const SnapshotPtr& snapshot, const std::stop_source& run) {
    const auto document = documents_.find(snapshot->uri);
    if (document == documents_.end())
        return;
    auto kernels = changedKernels(*snapshot, document->second);
    if (kernels.empty())
        return;
    auto shown = context_.progress.begin("Profiling what was saved", nlohmann::json::object(), run);
    context_.jobs.post([this, snapshot, kernels = std::move(kernels), token = run.get_token(),
                        shown = std::move(shown)] {
        for (std::size_t i = 0; i < kernels.size() && !token.stop_requested(); ++i) {
            const analysis::KernelModel& kernel = *kernels[i];
            const auto say = [&](std::string_view what, double part) {
                shown.report(what,
                             (static_cast<double>(i) + part) / static_cast<double>(kernels.size()));
            };
            const auto report = profileAnywhere(*snapshot, kernel, token, say);
            if (token.stop_requested())
                break;
            if (!report)
                context_.log.info("not profiled on save: {}: {}", kernel.qualifiedName,
                                  report.error().describe());
            context_.loop.post([this, snapshot, &kernel] { finished(snapshot, kernel); });
        }
        shown.end("");
    });
}

void SaveProfiling::finished(const SnapshotPtr& snapshot, const analysis::KernelModel& kernel) {
    const auto document = documents_.find(snapshot->uri);
    if (document == documents_.end())
        return;
    // A kernel that cannot be profiled is not tried again before it changes.
    document->second.known[kernel.qualifiedName] =
        snapshot->workbench->knowledge().runHash({snapshot->program, kernel});
    context_.refresh(snapshot);
}

} // namespace kernelskill::lsp
