#include "lsp-server/report/optimization_report.h"

#include "lsp-server/report/remaining_text.h"
#include "lsp-server/version.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <utility>

namespace kernelskill::lsp {
namespace {

using engine::Attempt;
using engine::Optimization;

std::string statusOf(const Attempt& attempt) {
    if (attempt.verdict && attempt.verdict->speedup)
        return fmt::format("{:.2f}×", *attempt.verdict->speedup);
    if (attempt.verdict)
        return std::string(spelling(attempt.verdict->status));
    return "not tried";
}

Tone toneOf(const Attempt& attempt) {
    if (attempt.isKept)
        return Tone::Good;
    const bool isWrong =
        attempt.verdict && (attempt.verdict->status == engine::VerdictStatus::Incorrect ||
                            attempt.verdict->status == engine::VerdictStatus::Invalid);
    return isWrong ? Tone::Bad : Tone::Quiet;
}

std::string standingText(const engine::Standing& standing) {
    if (standing.measured)
        return describe(*standing.measured);
    return standing.cost ? describe(*standing.cost) : "neither measured nor modelled";
}

std::string nameOf(const Attempt& attempt) {
    const std::string& title = attempt.plan.offer.title;
    return title.empty() ? attempt.plan.offer.skillId
                         : fmt::format("{} ({})", title, attempt.plan.offer.skillId);
}

Tree::Node attemptNode(const Attempt& attempt) {
    Tree::Node node;
    node.title = fmt::format("round {}: {}", attempt.round, nameOf(attempt));
    node.status = attempt.isKept ? fmt::format("{}, kept", statusOf(attempt)) : statusOf(attempt);
    node.tone = toneOf(attempt);
    if (attempt.bottleneck)
        node.remarks.push_back(fmt::format("bottleneck: {}", spelling(attempt.bottleneck->kind)));
    node.remarks.push_back("plan: " + attempt.plan.why);
    node.remarks.push_back("decision: " + attempt.decision);
    if (attempt.diagnosis)
        node.remarks.push_back(
            fmt::format("cause: {}: {}", attempt.diagnosis->cause, attempt.diagnosis->sentence));
    return node;
}

/// The attempts on `version`, and below each that was kept those on what it made.
std::vector<Tree::Node> attemptsFrom(int version, const std::vector<Attempt>& attempts) {
    std::vector<Tree::Node> nodes;
    for (const Attempt& attempt : attempts) {
        if (attempt.from != version)
            continue;
        Tree::Node& node = nodes.emplace_back(attemptNode(attempt));
        if (attempt.version > 0)
            node.children = attemptsFrom(attempt.version, attempts);
    }
    return nodes;
}

Table ruledOutTable(const std::vector<engine::RuledOut>& ruledOut) {
    Table table;
    table.columns = {{.title = "skill"}, {.title = "why not"}};
    for (const engine::RuledOut& each : ruledOut)
        table.rows.push_back({{.text = each.skill}, {.text = each.why}});
    return table;
}

ReportSection attemptSection(const Attempt& attempt) {
    ReportSection section;
    section.title = fmt::format("{}. Round {}: {}", attempt.number, attempt.round, nameOf(attempt));
    section.isFolded = true;
    FactList facts;
    facts.facts.push_back(
        {"on", attempt.from == 0 ? "the original" : fmt::format("version {}", attempt.from), ""});
    facts.facts.push_back({"plan", attempt.plan.why, ""});
    facts.facts.push_back({"expected", attempt.plan.expected, ""});
    facts.facts.push_back({"decision", attempt.decision, ""});
    if (attempt.diagnosis) {
        const engine::CandidateDiagnosis& diagnosis = *attempt.diagnosis;
        facts.facts.push_back({"cause", diagnosis.cause, diagnosis.sentence});
        if (!diagnosis.invariant.empty())
            facts.facts.push_back({"has to hold", diagnosis.invariant, ""});
        for (const std::string& seen : diagnosis.evidence)
            facts.facts.push_back({"seen", seen, ""});
        if (!diagnosis.repair.empty())
            facts.facts.push_back({"smallest repair", diagnosis.repair, "not tried"});
    }
    if (attempt.before)
        facts.facts.push_back({"before", standingText(*attempt.before), ""});
    if (attempt.after)
        facts.facts.push_back({"after", standingText(*attempt.after), ""});
    section.blocks.emplace_back(std::move(facts));
    if (attempt.bottleneck && !attempt.bottleneck->evidence.empty()) {
        BulletList evidence;
        for (const engine::Evidence& item : attempt.bottleneck->evidence)
            evidence.items.push_back(item.text);
        section.blocks.emplace_back(std::move(evidence));
    }
    if (!attempt.diff.empty())
        section.blocks.emplace_back(DiffText{attempt.diff});
    if (attempt.verdict && !attempt.verdict->checks.empty()) {
        Table checks;
        checks.columns = {{.title = "check"}, {.title = "result"}, {.title = "detail"}};
        for (const engine::Check& check : attempt.verdict->checks)
            checks.rows.push_back({{.text = check.name},
                                   {.text = check.passed ? "passed" : "failed",
                                    .tone = check.passed ? Tone::Good : Tone::Bad},
                                   {.text = check.detail}});
        section.blocks.emplace_back(std::move(checks));
    }
    if (!attempt.ruledOut.empty())
        section.blocks.emplace_back(ruledOutTable(attempt.ruledOut));
    return section;
}

/// nullopt where nothing was measured, or has no floating-point work.
std::optional<RooflinePlot> measuredPlot(const Optimization& found) {
    if (!found.base.measured)
        return std::nullopt;
    const engine::DeviceCeilings& ceilings = found.base.measured->ceilings;
    RooflinePlot plot;
    plot.gpu = ceilings.gpu;
    plot.ceilings = {{"DRAM", ceilings.bytesPerSecond, true, "measured on this device"},
                     {"FP32", ceilings.singlePerSecond, false, "measured on this device"}};
    const auto add = [&](const char* label, const engine::MeasuredRoofline& measured,
                         std::optional<std::size_t> before) {
        if (!measured.intensity || !measured.operationsPerSecond || *measured.intensity <= 0 ||
            *measured.operationsPerSecond <= 0)
            return;
        RooflinePoint point;
        point.label = label;
        point.intensity = {*measured.intensity, *measured.intensity};
        point.perSecond = {*measured.operationsPerSecond, *measured.operationsPerSecond};
        point.before = before;
        plot.points.push_back(std::move(point));
    };
    add("original", *found.base.measured, std::nullopt);
    if (plot.points.empty())
        return std::nullopt;
    if (found.best && found.best->measured)
        add("best", *found.best->measured, 0);
    return plot;
}

} // namespace

std::string summaryOf(const Optimization& found) {
    std::string text;
    if (!found.isImproved())
        text = "nothing is better than the original";
    else if (found.verdict && found.verdict->speedup)
        text = fmt::format("measured {:.2f}x by {}", *found.verdict->speedup,
                           fmt::join(found.skills, ", then "));
    else
        text = fmt::format("faster by the model, not measured, by {}",
                           fmt::join(found.skills, ", then "));
    return fmt::format("{}: {}. The search ended: {}.", found.kernel, text, found.stopText);
}

Report optimizationReport(const Optimization& found, const std::string& file,
                          const std::string& command) {
    Report report;
    report.title = fmt::format("Optimisation of {}", found.kernel);
    report.lead = summaryOf(found);
    FactList facts;
    facts.facts = {
        {"file", file, ""},
        {"judged by",
         found.executor == "gpu" ? "measurement on the GPU" : "the emulator and the cost model",
         found.executor == "gpu" ? "" : "a model ranks; it is no measurement"},
        {"rounds", fmt::format("{}", found.rounds), ""},
        {"plans tried", fmt::format("{}", found.attempts.size()), ""},
        {"seed", fmt::format("{}", found.seed), "of the inputs; replays the run"},
        {"original", standingText(found.base), ""}};
    if (found.best)
        facts.facts.push_back({"best", standingText(*found.best), ""});
    report.blocks.emplace_back(std::move(facts));
    if (auto plot = measuredPlot(found))
        report.blocks.emplace_back(std::move(*plot));

    ReportSection tree{.title = "Rounds", .blocks = {}, .sections = {}, .isFolded = false};
    if (found.attempts.empty())
        tree.blocks.emplace_back(Paragraph{"No plan was tried: " + found.stopText + ".", {}});
    else
        tree.blocks.emplace_back(Tree{attemptsFrom(0, found.attempts)});
    report.sections.push_back(std::move(tree));
    if (!found.diff.empty()) {
        ReportSection diff{
            .title = "All edits together", .blocks = {}, .sections = {}, .isFolded = false};
        if (found.verdict)
            diff.blocks.emplace_back(Paragraph{found.verdict->summary, {}});
        diff.blocks.emplace_back(DiffText{found.diff});
        report.sections.push_back(std::move(diff));
    }
    if (found.remaining) {
        ReportSection left{
            .title = "What is left", .blocks = {}, .sections = {}, .isFolded = false};
        FactList rows;
        for (RemainingLine& line : remainingLines(*found.remaining))
            rows.facts.push_back({std::move(line.label), std::move(line.text), ""});
        left.blocks.emplace_back(std::move(rows));
        report.sections.push_back(std::move(left));
    }
    ReportSection details{.title = "Each plan", .blocks = {}, .sections = {}, .isFolded = false};
    for (const Attempt& attempt : found.attempts)
        details.sections.push_back(attemptSection(attempt));
    if (!details.sections.empty())
        report.sections.push_back(std::move(details));
    if (!found.ruledOut.empty()) {
        ReportSection ruledOut{
            .title = "Ruled out at the end", .blocks = {}, .sections = {}, .isFolded = true};
        ruledOut.blocks.emplace_back(ruledOutTable(found.ruledOut));
        report.sections.push_back(std::move(ruledOut));
    }
    report.footer = fmt::format("kernelskill {} · {}", version, command);
    return report;
}

} // namespace kernelskill::lsp
