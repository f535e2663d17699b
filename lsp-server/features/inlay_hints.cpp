#include "lsp-server/features/inlay_hints.h"

#include "engine/execution/metric_names.h"
#include "lsp-server/report/access_cost.h"
#include "lsp-server/report/markdown_text.h"
#include "lsp-server/report/stall_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <set>
#include <string_view>

namespace kernelskill::lsp {

namespace {

/// The end of the line's text.
std::uint32_t endOfText(const analysis::SourceText& source, std::uint32_t line) {
    analysis::Span span = source.lineSpan(line);
    const std::string_view text = source.slice(span);
    const auto last = text.find_last_not_of(" \t\r");
    return span.begin + static_cast<std::uint32_t>(last == std::string_view::npos ? 0 : last + 1);
}

/// Adds the diagnosis's evidence at the end of its line. Returns the lines.
std::set<std::uint32_t> addEvidence(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                                    analysis::Span range, PositionEncoding encoding,
                                    std::vector<InlayHint>& hints) {
    std::set<std::uint32_t> lines;
    const auto bottleneck = snapshot.workbench->knowledge().diagnosis({snapshot.program, kernel});
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
        hints.push_back(
            {toPosition(snapshot.source(), end, encoding), evidence.hint,
             fmt::format("**{}**: {}", spelling(bottleneck->kind), markdownText(evidence.text))});
    }
    return lines;
}

/// Percent of the time of a kernel's warps: less is not worth a word on the line.
constexpr double minStallPercent = 3;
/// The hardware merges a few sectors; a larger difference is shown.
constexpr double sameSectors = 0.05;

/// Adds each line's share of the time of warps, as a GPU sampled it.
void addStalls(const Snapshot& snapshot, const engine::Profile& profile, analysis::Span range,
               PositionEncoding encoding, std::vector<InlayHint>& hints) {
    for (const engine::LineMetrics& line : profile.lines) {
        const auto share = line.metrics.find(engine::metric::stallPercent);
        if (share == line.metrics.end() || share->second < minStallPercent ||
            line.file != snapshot.model().file || line.line >= snapshot.source().lineCount() ||
            !snapshot.source().lineSpan(line.line).overlaps(range))
            continue;
        std::string reasons = "Of the time of the kernel's warps on the GPU:\n";
        for (const StallShare& stall : stallShares(line))
            reasons += fmt::format("\n- {} (`{}`)", describe(stall), stall.metric);
        hints.push_back(
            {toPosition(snapshot.source(), endOfText(snapshot.source(), line.line), encoding),
             fmt::format("{:.0f} % of warps' time", share->second), std::move(reasons)});
    }
}

/// Adds a hint over the kernel where the hardware moved other sectors than the emulator counted.
void addSectorDifference(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                         const engine::Profile& profile, PositionEncoding encoding,
                         std::vector<InlayHint>& hints) {
    for (const auto* access : engine::metric::accesses) {
        const auto measured = profile.metrics.find(access->sectorsPerRequest);
        const auto counted = profile.metrics.find(access->countedSectorsPerRequest);
        if (measured == profile.metrics.end() || counted == profile.metrics.end() ||
            std::abs(measured->second - counted->second) <= sameSectors * counted->second)
            continue;
        const std::uint32_t line = snapshot.source().lineColumn(kernel.nameSpan.begin).line;
        hints.push_back(
            {toPosition(snapshot.source(), endOfText(snapshot.source(), line), encoding),
             fmt::format("{:.1f} sectors/{} measured, {:.1f} counted", measured->second,
                         access->word, counted->second),
             fmt::format("`{}`: what the GPU moved for each request, and what the emulator counted "
                         "from the addresses of the lanes.",
                         access->sectorsPerRequest)});
    }
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
        const auto report =
            snapshot.workbench->knowledge().cachedReport({snapshot.program, kernel});
        if (report && report->measurement) {
            addStalls(snapshot, *report->profile, range, encoding, hints);
            if (snapshot.source()
                    .lineSpan(snapshot.source().lineColumn(kernel.nameSpan.begin).line)
                    .overlaps(range))
                addSectorDifference(snapshot, kernel, *report->profile, encoding, hints);
        }
        const auto features = snapshot.workbench->knowledge().features({snapshot.program, kernel});
        for (const analysis::AccessFeatures& accessFeatures : features->accesses) {
            const auto cost = accessCost(kernel, accessFeatures);
            if (!cost || cost->needed <= cost->minimum)
                continue;
            const analysis::Expr& access =
                kernel.body.expr(kernel.accesses.at(accessFeatures.access).expression);
            // `a[i] += x` is a read and a write at one place: one hint.
            if (!access.span.overlaps(range) || access.fromMacro || access.span.end == lastEnd)
                continue;
            // A count of the line is worth more than an estimate from its text.
            if (told.contains(snapshot.source().lineColumn(access.span.begin).line))
                continue;
            lastEnd = access.span.end;
            hints.push_back(
                {toPosition(snapshot.source(), access.span.end, encoding), shortLabel(*cost),
                 fmt::format("{}\n\nThe minimum is {}.", markdownText(accessFeatures.explanation),
                             formatNumber(cost->minimum))});
        }
    }
    return hints;
}

} // namespace kernelskill::lsp
