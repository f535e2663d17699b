#include "lsp-server/features/inlay_hints.h"

#include "lsp-server/features/access_cost.h"

#include <spdlog/fmt/fmt.h>

#include <set>
#include <string_view>

namespace kernelskill::lsp {

namespace {

/// Where the line's text ends.
std::uint32_t endOfText(const analysis::SourceText& source, std::uint32_t line) {
    analysis::Span span = source.lineSpan(line);
    const std::string_view text = source.slice(span);
    const auto last = text.find_last_not_of(" \t\r");
    return span.begin + static_cast<std::uint32_t>(last == std::string_view::npos ? 0 : last + 1);
}

/// What the diagnosis holds against a line, at the line's end. Returns the lines.
std::set<std::uint32_t> addEvidence(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                                    analysis::Span range, PositionEncoding encoding,
                                    std::vector<InlayHint>& hints) {
    std::set<std::uint32_t> lines;
    const auto bottleneck = snapshot.workbench->diagnosis(snapshot.program, kernel);
    for (const engine::Evidence& evidence : bottleneck->evidence) {
        if (!evidence.line || evidence.hint.empty() || evidence.file != snapshot.model().file ||
            *evidence.line >= snapshot.source().lineCount())
            continue;
        const std::uint32_t end = endOfText(snapshot.source(), *evidence.line);
        if (!snapshot.source().lineSpan(*evidence.line).overlaps(range))
            continue;
        // The load and the store of one line may both be evidence: the stronger is shown.
        if (!lines.insert(*evidence.line).second)
            continue;
        hints.push_back({toPosition(snapshot.source(), end, encoding), evidence.hint,
                         fmt::format("**{}**: {}", spelling(bottleneck->kind), evidence.text)});
    }
    return lines;
}

} // namespace

std::vector<InlayHint> inlayHints(const Snapshot& snapshot, analysis::Span range,
                                  PositionEncoding encoding) {
    std::vector<InlayHint> hints;
    std::uint32_t lastEnd = analysis::noId;
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        if (!snapshot.isInMainFile(kernel) || kernel.fromMacro)
            continue;
        const auto told = addEvidence(snapshot, kernel, range, encoding, hints);
        if (!kernel.span.overlaps(range))
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
            // What was counted on the line is worth more than what its text lets expect.
            if (told.contains(snapshot.source().lineColumn(access.span.begin).line))
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
