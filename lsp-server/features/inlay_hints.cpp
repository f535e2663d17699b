#include "lsp-server/features/inlay_hints.h"

#include "lsp-server/features/access_cost.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {

std::vector<InlayHint> inlayHints(const Snapshot& snapshot, analysis::Span range,
                                  PositionEncoding encoding) {
    std::vector<InlayHint> hints;
    std::uint32_t lastEnd = analysis::noId;
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        if (!snapshot.isInMainFile(kernel) || kernel.fromMacro || !kernel.span.overlaps(range))
            continue;
        const auto features = snapshot.workbench->features(snapshot.program, kernel);
        for (const analysis::AccessFeatures& accessFeatures : features->accesses) {
            const auto cost = accessCost(kernel, accessFeatures);
            if (!cost || cost->needed <= cost->minimum)
                continue;
            const analysis::Expr& access =
                kernel.body.expr(kernel.accesses.at(accessFeatures.access).expression);
            // `a[i] += x` is a read and a write at one place: one hint.
            if (!access.span.overlaps(range) || access.fromMacro || access.span.end == lastEnd)
                continue;
            lastEnd = access.span.end;
            hints.push_back({toPosition(snapshot.source(), access.span.end, encoding),
                             shortLabel(*cost),
                             fmt::format("{}\n\nThe minimum is {}.", accessFeatures.explanation,
                                         formatNumber(cost->minimum))});
        }
    }
    return hints;
}

} // namespace kernelskill::lsp
