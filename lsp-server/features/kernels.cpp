#include "lsp-server/features/kernels.h"

#include "analysis/source/json.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/json_report.h"

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json programJson(const KernelShares* shares, const Snapshot& snapshot,
                 const analysis::KernelModel& kernel) {
    const auto time = shares == nullptr ? std::nullopt : shares->of(snapshot.model(), kernel);
    if (!time)
        return nullptr;
    return {{"name", shares->program},
            {"share", time->share},
            {"microseconds", static_cast<double>(time->nanoseconds) * 1e-3}};
}

} // namespace

json kernelsJson(const Snapshot& snapshot, const KernelShares* shares, PositionEncoding encoding) {
    const engine::Workbench& workbench = *snapshot.workbench;
    json kernels = json::array();
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        if (!snapshot.isInMainFile(kernel))
            continue;
        const auto report = workbench.knowledge().cachedReport({snapshot.program, kernel});
        kernels.push_back(
            {{"name", kernel.qualifiedName},
             {"range", toRange(snapshot.source(), kernel.span, encoding)},
             {"selectionRange", toRange(snapshot.source(), kernel.nameSpan, encoding)},
             {"bottleneck",
              bottleneckJson(*workbench.knowledge().diagnosis({snapshot.program, kernel}))},
             {"measured", report ? measuredJson(*report) : json(nullptr)},
             {"roofline", report ? rooflineJson(*report) : json(nullptr)},
             {"program", programJson(shares, snapshot, kernel)}});
    }
    return kernels;
}

} // namespace kernelskill::lsp
