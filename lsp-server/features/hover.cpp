#include "lsp-server/features/hover.h"

#include "engine/inputs/launch_inference.h"
#include "lsp-server/report/access_cost.h"
#include "lsp-server/report/evidence_text.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/history_text.h"
#include "lsp-server/report/launch_text.h"
#include "lsp-server/report/line_text.h"
#include "lsp-server/report/markdown_text.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/remedy_text.h"
#include "lsp-server/report/ruled_out_text.h"
#include "lsp-server/report/stall_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

namespace {

std::string howFound(const engine::LaunchSpec& launch) {
    switch (launch.origin) {
    case engine::LaunchOrigin::Pinned:
        return "pinned by a comment";
    case engine::LaunchOrigin::Captured: // The first note names the program.
        if (launch.notes.empty())
            return "captured from a program";
        return markdownText(launch.notes.front());
    case engine::LaunchOrigin::Evaluated:
        return "evaluated from the launch in this file";
    case engine::LaunchOrigin::Guessed:
        break;
    }
    return "guessed from names and index expressions";
}

// Lists rather than tables without a heading: those read badly in terminals and as plain text.
std::string launchItems(const engine::LaunchSpec& launch) {
    std::string items =
        fmt::format("- launch: {} ({})\n", describeLaunch(launch), howFound(launch));
    if (const std::string arguments = describeArguments(launch); !arguments.empty())
        items += fmt::format("- arguments: `{}`\n", arguments);
    return items;
}

std::string counterTable(const engine::Metrics& metrics) {
    std::string rows;
    for (const MetricText& metric : importantMetrics(metrics))
        rows += fmt::format("| {} | {} | `{}` |\n", metric.label, metric.value, metric.name);
    return rows.empty() ? rows
                        : "\n| counter | value | in Nsight Compute |\n|:--|--:|:--|\n" + rows;
}

/// The attempts on the kernel; empty where there were none.
std::string historyItems(const Snapshot& snapshot, const analysis::KernelModel& kernel) {
    const auto contents = snapshot.memory().read();
    if (!contents)
        return {};
    const std::string tree = describeHistory(contents->entries, kernel.normalisedHash);
    return tree.empty() ? tree : "\n**Tried**\n\n" + tree;
}

/// The stall reasons with the max share of samples; empty where nothing was sampled.
std::string stallTable(const engine::Profile& profile) {
    constexpr std::size_t maxReasons = 4;
    std::string rows;
    std::size_t shown = 0;
    for (const StallShare& share : stallShares(profile)) {
        if (share.reason == "selected" || shown == maxReasons)
            continue;
        rows += fmt::format("| {} | {:.0f} % | `{}` |\n",
                            share.meaning.empty() ? share.reason : std::string(share.meaning),
                            share.percent, share.metric);
        ++shown;
    }
    return rows.empty() ? rows
                        : "\n| warps | of their time | in Nsight Compute |\n|:--|--:|:--|\n" + rows;
}

std::string sharedItem(const analysis::KernelModel& kernel) {
    std::uint64_t bytes = 0;
    bool isDynamic = false;
    for (const analysis::SharedArray& array : kernel.sharedArrays) {
        bytes += array.bytes;
        isDynamic = isDynamic || array.isDynamic;
    }
    if (kernel.sharedArrays.empty())
        return {};
    if (bytes == 0)
        return "- shared memory: sized at launch\n";
    return fmt::format("- shared memory: {} bytes a block{}\n", bytes,
                       isDynamic ? " and more at launch" : "");
}

/// The remedies: edits that answer the bottleneck, methods to apply by hand, and the reason if
/// nothing is offered or applied.
std::string adviceItems(const engine::Plan& plan) {
    std::string text;
    bool isAnswered = false;
    for (const engine::RankedSkill& ranked : plan.ranked) {
        if (ranked.answers == engine::AnswersTo::Nothing || ranked.failedBefore)
            continue;
        isAnswered = isAnswered || ranked.answers == engine::AnswersTo::Leading;
        text +=
            fmt::format("- {} (`{}`)\n", markdownText(ranked.offer.title), ranked.offer.skillId);
    }
    if (!text.empty())
        text = "\n**Apply** (light bulb)\n\n" + text;
    if (!plan.remedies.empty()) {
        text += isAnswered ? "\n**Also, by hand**\n\n" : "\n**What would help**\n\n";
        for (const engine::Remedy& remedy : plan.remedies)
            text +=
                fmt::format("- **{}**: {}\n", remedy.method, markdownText(describeRemedy(remedy)));
    }
    if (plan.uncheckable && !plan.ranked.empty())
        text += fmt::format("\n**Why is nothing applied?**\n\n- {}\n",
                            markdownText(describeUncheckable(*plan.uncheckable)));
    return text;
}

/// Why each skill is ruled out; empty where one is offered.
std::string refusalItems(const engine::Plan& plan) {
    if (!plan.ranked.empty() || plan.ruledOut.empty())
        return {};
    std::string text = "\n**Why is nothing offered?**\n\n";
    for (const RuledOutGroup& group : groupByReason(plan.ruledOut, plan.ranked.size()))
        text += fmt::format("- {}: {}\n", group.skills, markdownText(group.why));
    return text;
}

std::string accessText(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                       const analysis::MemoryAccess& access,
                       const analysis::AccessFeatures* features) {
    const analysis::Expr& expression = kernel.body.expr(access.expression);
    std::string text = fmt::format("**`{}`** · {} {}", snapshot.source().slice(expression.span),
                                   describe(access.space), describe(access.kind));
    if (access.width > 0)
        text += fmt::format(" · {} bytes a lane", access.width);
    const auto cost = features != nullptr ? accessCost(kernel, *features) : std::nullopt;
    if (cost && cost->isShared) {
        text += cost->needed > cost->minimum
                    ? fmt::format("\n\n**{}-way bank conflict**: a warp's request takes {} "
                                  "wavefronts where {} would do.",
                                  formatNumber(cost->needed), formatNumber(cost->needed),
                                  formatNumber(cost->minimum))
                    : std::string("\n\nNo bank conflict.");
    } else if (cost) {
        text += fmt::format("\n\n**{} sectors per request**", formatNumber(cost->needed));
        text += cost->needed > cost->minimum
                    ? fmt::format(" where {} would do: {:.0f} % of the bytes moved are used.",
                                  formatNumber(cost->minimum), 100 * cost->minimum / cost->needed)
                    : std::string(", the minimum: coalesced.");
    }
    if (features != nullptr && !features->explanation.empty())
        text += "\n\n" + markdownText(features->explanation);
    if (access.index)
        text += fmt::format("\n\nindex: `{}`", access.index->describe(kernel.body));
    return text;
}

/// The counts of the line of `offset`; empty without a profile.
std::string countedOnLine(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                          std::uint32_t offset) {
    const auto profile = snapshot.workbench->knowledge().cachedProfile({snapshot.program, kernel});
    if (!profile)
        return {};
    const std::uint32_t line = snapshot.source().lineColumn(offset).line;
    const auto& lines = profile->lines;
    const auto place = std::ranges::find_if(lines, [&](const engine::LineMetrics& counted) {
        return counted.line == line && counted.file == snapshot.model().file;
    });
    if (place == lines.end())
        return {};
    const auto counts = lineCounts(place->metrics);
    return counts.empty() ? std::string()
                          : fmt::format("\n\nCounted on this line: {}.", fmt::join(counts, "; "));
}

/// The diagnosis's evidence on the line of `offset`; empty where there is none.
std::string evidenceOnLine(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                           std::uint32_t offset) {
    const std::uint32_t line = snapshot.source().lineColumn(offset).line;
    const auto bottleneck = snapshot.workbench->knowledge().diagnosis({snapshot.program, kernel});
    std::string items;
    for (const engine::Evidence& evidence : bottleneck->evidence)
        if (evidence.line == line && evidence.file == snapshot.model().file)
            items += "\n\n" + markdownText(evidence.text);
    return items.empty()
               ? items
               : fmt::format("**{}** in `{}`{}", spelling(bottleneck->kind), kernel.name, items);
}

/// The hover on a line that holds a kernel back and has no access at `offset`.
std::optional<HoverContent> hoverOnEvidence(const Snapshot& snapshot,
                                            const analysis::KernelModel& kernel,
                                            std::uint32_t offset) {
    const auto text = evidenceOnLine(snapshot, kernel, offset);
    if (text.empty())
        return std::nullopt;
    return HoverContent{text + countedOnLine(snapshot, kernel, offset),
                        snapshot.source().lineSpan(snapshot.source().lineColumn(offset).line)};
}

/// The innermost access at `offset`: in `a[b[i]]`, on `i` it is `b[i]`.
std::optional<HoverContent>
hoverOnAccess(const Snapshot& snapshot, const analysis::KernelModel& kernel, std::uint32_t offset) {
    std::optional<std::uint32_t> best;
    const auto spanOf = [&](std::uint32_t access) {
        return kernel.body.expr(kernel.accesses.at(access).expression).span;
    };
    for (std::uint32_t i = 0; i < kernel.accesses.size(); ++i) {
        const analysis::Span span = spanOf(i);
        if (span.begin <= offset && offset <= span.end &&
            (!best || span.size() < spanOf(*best).size()))
            best = i;
    }
    if (!best)
        return std::nullopt;
    const auto all = snapshot.workbench->knowledge().features({snapshot.program, kernel});
    const auto features =
        std::ranges::find(all->accesses, *best, &analysis::AccessFeatures::access);
    return HoverContent{accessText(snapshot, kernel, kernel.accesses.at(*best),
                                   features == all->accesses.end() ? nullptr : &*features) +
                            countedOnLine(snapshot, kernel, spanOf(*best).begin),
                        spanOf(*best)};
}

std::optional<HoverContent> hoverOnLaunch(const Snapshot& snapshot, std::uint32_t offset) {
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        for (const analysis::LaunchSite& site : kernel.launches) {
            if (!site.span.contains(offset) ||
                snapshot.model().hostFunctions.at(site.host).file != snapshot.model().file)
                continue;
            // With this site alone, the first launch that can be evaluated is this one's.
            analysis::KernelModel only = kernel;
            only.launches = {site};
            std::string text = fmt::format("**launch of `{}`**", kernel.qualifiedName);
            const auto launches = engine::inferLaunches(snapshot.model(), only);
            const engine::LaunchSpec* launch =
                launches && !launches->empty() ? &launches->front() : nullptr;
            if (launch != nullptr) {
                text += "\n\n" + launchItems(*launch);
                text +=
                    fmt::format("- threads: {} in {} blocks\n",
                                launch->grid.count() * launch->block.count(), launch->grid.count());
                for (const std::string& note : launch->notes)
                    text += "- " + markdownText(note) + "\n";
            } else if (!launches) {
                text += "\n\n" + markdownText(launches.error().describe());
            }
            if (const auto evidence = evidenceOnLine(snapshot, kernel, site.span.begin);
                !evidence.empty())
                text += "\n\n" + evidence;
            return HoverContent{std::move(text), site.span};
        }
    }
    return std::nullopt;
}

/// The evidence that decided on the bottleneck, and the other bottlenecks.
std::string reasonItems(const engine::Bottleneck& bottleneck) {
    std::string text;
    if (!bottleneck.evidence.empty())
        text += "- " + markdownText(describeEvidence(bottleneck.evidence.front())) + "\n";
    if (!bottleneck.others.empty()) {
        std::vector<std::string_view> others;
        for (const engine::BottleneckKind other : bottleneck.others)
            others.push_back(spelling(other));
        text += fmt::format("- also: {}\n", fmt::join(others, ", "));
    }
    return text;
}

/// All other facts: further evidence, the launch, counts or times, and earlier trials.
std::string detailItems(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                        const engine::Bottleneck& bottleneck, const engine::KernelReport* report) {
    std::string text;
    for (std::size_t i = 1; i < bottleneck.evidence.size(); ++i)
        text += "- " + markdownText(describeEvidence(bottleneck.evidence[i])) + "\n";
    if (headroomFactor(bottleneck))
        text += "- the headroom is a model's: " + markdownText(bottleneck.gain->basis) + "\n";
    if (report != nullptr) {
        text += launchItems(report->profile->launch);
        if (!report->facts || !*report->facts) // The compiler's facts say it, too.
            text += sharedItem(kernel);
        for (const std::string& line : gpuLines(*report))
            text += "- " + markdownText(line) + "\n";
        text += stallTable(*report->profile);
        text += counterTable(reportMetrics(*report));
        text += historyItems(snapshot, kernel);
        return text + fmt::format("\n*{} on the {}; decided by: {}.*",
                                  report->measurement ? "Measured" : "Counted",
                                  report->profile->executor, bottleneck.rule);
    }
    if (const auto launch = snapshot.workbench->knowledge().launch({snapshot.program, kernel}))
        text += launchItems(*launch);
    text += sharedItem(kernel);
    const auto features = snapshot.workbench->knowledge().features({snapshot.program, kernel});
    if (features->arithmeticIntensity && *features->arithmeticIntensity > 0)
        text += fmt::format("- arithmetic intensity: {} operations per byte\n",
                            formatNumber(*features->arithmeticIntensity));
    text += historyItems(snapshot, kernel);
    return text + fmt::format("\n*From the code alone (rule: {}). Profile the kernel to count.*",
                              bottleneck.rule);
}

} // namespace

std::string describeKernel(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                           Details details) {
    const auto bottleneck = snapshot.workbench->knowledge().diagnosis({snapshot.program, kernel});
    const auto report = snapshot.workbench->knowledge().cachedReport({snapshot.program, kernel});
    const engine::Plan plan = snapshot.workbench->advisor().plan({snapshot.program, kernel},
                                                                 kernel.span, snapshot.memory());
    const std::string headroom = describeHeadroom(*bottleneck);
    std::string text =
        fmt::format("### `{}` · {}{}\n\n", kernel.qualifiedName, spelling(bottleneck->kind),
                    headroom.empty() ? "" : ", " + headroom);
    if (report && report->measurement)
        text += fmt::format("**{}** {}\n\n", measuredHeadline(*report), measuredWhere(*report));
    text += reasonItems(*bottleneck) + adviceItems(plan);
    const std::string rest =
        refusalItems(plan) + "\n" +
        detailItems(snapshot, kernel, *bottleneck, report ? &*report : nullptr);
    if (details == Details::Folded)
        return text + fmt::format("\n<details><summary>{}</summary>\n\n{}\n\n</details>",
                                  plan.ranked.empty() ? "Evidence, and why nothing is offered"
                                                      : "Evidence",
                                  rest);
    return text + "\n---\n" + rest;
}

std::optional<HoverContent> hover(const Snapshot& snapshot, std::uint32_t offset, Details details) {
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        if (!snapshot.isInMainFile(kernel) || offset < kernel.span.begin ||
            offset > kernel.span.end)
            continue;
        if (kernel.nameSpan.begin <= offset && offset <= kernel.nameSpan.end)
            return HoverContent{describeKernel(snapshot, kernel, details), kernel.nameSpan};
        if (auto content = hoverOnAccess(snapshot, kernel, offset))
            return content;
        if (auto content = hoverOnEvidence(snapshot, kernel, offset))
            return content;
    }
    return hoverOnLaunch(snapshot, offset);
}

} // namespace kernelskill::lsp
