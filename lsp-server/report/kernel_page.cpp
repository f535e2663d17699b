#include "lsp-server/report/kernel_page.h"

#include "lsp-server/report/evidence_text.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/launch_text.h"
#include "lsp-server/report/line_table.h"
#include "lsp-server/report/metric_explanation.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/occupancy_text.h"
#include "lsp-server/report/stall_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::lsp {
namespace {

ReportSection launchPart(const engine::KernelReport& report) {
    const engine::LaunchSpec& launch = report.profile->launch;
    FactList facts;
    facts.facts = {{"grid", describe(launch.grid), ""}, {"block", describe(launch.block), ""}};
    if (launch.dynamicSharedBytes > 0)
        facts.facts.push_back(
            {"shared memory", fmt::format("{} bytes", launch.dynamicSharedBytes), "dynamic"});
    if (const auto arguments = describeArguments(launch); !arguments.empty())
        facts.facts.push_back({"arguments", arguments, ""});
    ReportSection section{"Launch", {std::move(facts)}, {}};
    if (!launch.notes.empty())
        section.blocks.emplace_back(BulletList{launch.notes});
    return section;
}

/// What occupancy would be with another block; nullopt without the compiler's facts.
std::optional<ReportSection> occupancyPart(const engine::KernelReport& report) {
    if (!report.facts || !*report.facts || !report.occupancy)
        return std::nullopt;
    const engine::StaticFacts& facts = **report.facts;
    const engine::LaunchSpec& launch = report.profile->launch;
    const auto capability = analysis::computeCapabilityOf(facts.architecture);
    const auto limits = capability ? analysis::limitsOf(*capability) : std::nullopt;
    if (!limits)
        return std::nullopt;
    ReportSection section{"Occupancy, if the block were another", {}, {}, true};
    for (const OccupancyPlot& plot :
         occupancyPlots({static_cast<std::uint32_t>(launch.block.count()), facts.registers,
                         facts.staticSharedBytes + launch.dynamicSharedBytes},
                        *limits))
        section.blocks.emplace_back(occupancyTable(plot));
    return section;
}

ReportSection metricsPart(const engine::KernelReport& report) {
    ReportSection section{"Metrics", {}, {}};
    for (const MetricSection& group : metricSections(reportMetrics(report))) {
        Table table;
        table.columns = {{group.title}, {"value", true}, {"meaning"}};
        for (const MetricText& metric : group.metrics)
            table.rows.push_back({{metric.label, {}, Tone::Plain, metric.name},
                                  {metric.value},
                                  {std::string(explanationOf(metric.name)), {}, Tone::Quiet}});
        section.blocks.emplace_back(std::move(table));
    }
    return section;
}

ReportSection stallsPart(const engine::Profile& profile) {
    Table table;
    table.columns = {{"warps"}, {"of their time", true}};
    for (const StallShare& share : stallShares(profile))
        table.rows.push_back({{share.meaning.empty() ? share.reason : std::string(share.meaning),
                               {},
                               Tone::Plain,
                               share.metric},
                              {fmt::format("{:.1f} %", share.percent), share.percent / 100}});
    return {"Where warps spend their time", {std::move(table)}, {}};
}

/// The reasons for this bottleneck, other candidates, and the skills that answer them.
std::vector<ReportBlock> evidenceBlocks(const engine::Bottleneck& bottleneck) {
    std::vector<ReportBlock> blocks;
    BulletList evidence;
    for (const engine::Evidence& item : bottleneck.evidence)
        evidence.items.push_back(describeEvidence(item));
    if (!evidence.items.empty())
        blocks.emplace_back(std::move(evidence));
    std::string line = fmt::format("Decided by the rule {}.", bottleneck.rule);
    if (headroomFactor(bottleneck))
        line += fmt::format(" The headroom is a model's: {}.", bottleneck.gain->basis);
    else if (bottleneck.gain && bottleneck.headroom != engine::noHeadroom)
        line += fmt::format(" It is estimated that {}.", describeGain(*bottleneck.gain));
    if (!bottleneck.others.empty()) {
        std::vector<std::string_view> others;
        for (const engine::BottleneckKind other : bottleneck.others)
            others.push_back(spelling(other));
        line += fmt::format(" The signature of {} holds, too.", fmt::join(others, " and "));
    }
    blocks.emplace_back(Paragraph{std::move(line), Tone::Quiet});
    return blocks;
}

ReportSection planPart(const Snapshot& snapshot, const analysis::KernelModel& kernel) {
    const engine::Plan plan = snapshot.workbench->advisor().plan({snapshot.program, kernel},
                                                                 kernel.span, snapshot.memory());
    ReportSection section{"What may help", {}, {}};
    Table ranked;
    ranked.columns = {{"skill", false, true}, {"why"}, {"expected"}};
    Table tidy;
    tidy.columns = {{"good practice", false, true}, {"why"}, {"expected"}};
    for (const engine::RankedSkill& skill : plan.ranked) {
        Table& table = skill.role == skills::SkillRole::Hygiene ? tidy : ranked;
        table.rows.push_back({{skill.offer.skillId}, {skill.offer.why}, {skill.expected}});
    }
    if (ranked.rows.empty())
        section.blocks.emplace_back(Paragraph{"No skill answers what holds it back.", Tone::Quiet});
    else
        section.blocks.emplace_back(std::move(ranked));
    if (!plan.remedies.empty()) {
        Table byHand;
        byHand.columns = {{"by hand", false, true}, {"what"}, {"not offered because"}};
        for (const engine::Remedy& remedy : plan.remedies)
            byHand.rows.push_back({{remedy.method}, {remedy.text}, {remedy.why, {}, Tone::Quiet}});
        section.blocks.emplace_back(std::move(byHand));
    }
    if (!tidy.rows.empty())
        section.blocks.emplace_back(std::move(tidy));
    if (!plan.ruledOut.empty()) {
        Table out;
        out.columns = {{"ruled out", false, true}, {"because"}};
        for (const engine::RuledOut& skill : plan.ruledOut)
            out.rows.push_back({{skill.skill}, {skill.why, {}, Tone::Quiet}});
        section.sections.push_back({"What was ruled out", {std::move(out)}, {}, true});
    }
    return section;
}

std::string sourceOfNumbers(const engine::KernelReport& report) {
    if (report.measurement)
        return fmt::format("Measured {} ({}). What the hardware was not asked for, and sectors of "
                           "single lines, the emulator counted on the same launch.",
                           measuredWhere(report), report.measurement->device);
    return "Counted on the CPU emulator: counts are of the launch itself, times are a model's.";
}

} // namespace

std::string kernelFinding(const engine::KernelReport& report) {
    std::string text(spelling(report.bottleneck->kind));
    if (const auto headroom = describeHeadroom(*report.bottleneck); !headroom.empty())
        text += ", " + headroom;
    if (const auto measured = measuredHeadline(report); !measured.empty())
        text += " · " + measured;
    return text;
}

ReportSection kernelSection(const Snapshot& snapshot, const ProfiledKernel& profiled,
                            TextLookup& texts) {
    ReportSection section{profiled.kernel->qualifiedName, {}, {}};
    if (!profiled.report) {
        section.blocks.emplace_back(
            Paragraph{"Not profiled: " + profiled.report.error().describe(), Tone::Bad});
        return section;
    }
    const engine::KernelReport& report = *profiled.report;
    section.blocks.emplace_back(Paragraph{kernelFinding(report)});
    section.sections.push_back({"Bottleneck", evidenceBlocks(*report.bottleneck), {}});
    section.sections.push_back({"Lines", lineTables(report, *profiled.kernel, texts), {}});
    if (section.sections.back().blocks.empty())
        section.sections.pop_back();
    if (!stallShares(*report.profile).empty())
        section.sections.push_back(stallsPart(*report.profile));
    section.sections.push_back(planPart(snapshot, *profiled.kernel));
    section.sections.push_back(launchPart(report));
    if (auto occupancy = occupancyPart(report))
        section.sections.push_back(std::move(*occupancy));
    section.sections.push_back(metricsPart(report));
    std::vector<std::string> notes = gpuLines(report);
    notes.insert(notes.end(), report.profile->notes.begin(), report.profile->notes.end());
    notes.push_back(sourceOfNumbers(report));
    section.sections.push_back({"Where the numbers come from", {BulletList{std::move(notes)}}, {}});
    return section;
}

} // namespace kernelskill::lsp
