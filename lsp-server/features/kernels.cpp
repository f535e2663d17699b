#include "lsp-server/features/kernels.h"

#include "analysis/source/json.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/json_report.h"

namespace kernelskill::lsp {

using nlohmann::json;

json kernelsJson(const Snapshot& snapshot, PositionEncoding encoding) {
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
             {"roofline", report ? rooflineJson(*report) : json(nullptr)}});
    }
    return kernels;
}

} // namespace kernelskill::lsp
