#include "lsp-server/mcp/answer_text.h"

#include "lsp-server/report/access_cost.h"
#include "lsp-server/report/evidence_text.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/launch_text.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/optimization_report.h"
#include "lsp-server/report/remaining_text.h"
#include "lsp-server/report/remedy_text.h"
#include "lsp-server/report/verification_json.h"

#include <spdlog/fmt/fmt.h>

#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

std::string word(const json& object, const char* name) {
    return object.at(name).get<std::string>();
}

/// Lines count from 1 for readers.
std::uint32_t line(const json& object) {
    return object.at("line").get<std::uint32_t>() + 1;
}

void addBottleneck(std::string& text, const json& bottleneck) {
    text += fmt::format("  bottleneck: {}", word(bottleneck, "kind"));
    if (const auto headroom = word(bottleneck, "headroom_text"); !headroom.empty())
        text += ", " + headroom;
    text += "\n";
    for (const json& evidence : bottleneck.at("evidence"))
        text += fmt::format("    {}\n", word(evidence, "text"));
}

void addChecks(std::string& text, const engine::Verdict& verdict) {
    for (const engine::Check& check : verdict.checks)
        text += fmt::format("  {} {}{}\n", check.passed ? "pass" : "FAIL", check.name,
                            check.detail.empty() ? "" : ": " + check.detail);
}

void addCounts(std::string& text, const engine::Verdict& verdict) {
    for (const auto& [name, after] : verdict.after) {
        const auto before = verdict.before.find(name);
        if (before != verdict.before.end() && before->second != after)
            text += fmt::format("  count {}: {} -> {}\n", name, formatNumber(before->second),
                                formatNumber(after));
    }
}

void addDiagnosis(std::string& text, const engine::CandidateDiagnosis& diagnosis) {
    text += fmt::format("  cause: {}: {}\n", diagnosis.cause, diagnosis.sentence);
    for (const std::string& seen : diagnosis.evidence)
        text += fmt::format("  seen: {}\n", seen);
    if (!diagnosis.invariant.empty())
        text += fmt::format("  must hold: {}\n", diagnosis.invariant);
    if (!diagnosis.repair.empty())
        text += fmt::format("  may help (not tried): {}\n", diagnosis.repair);
}

} // namespace

std::string checkText(const json& check) {
    std::string text;
    for (const json& diagnostic : check.at("diagnostics"))
        text += fmt::format("line {}: {}: {} [{}]\n",
                            diagnostic.at("range").at("start").at("line").get<std::uint32_t>() + 1,
                            word(diagnostic, "severity"), word(diagnostic, "message"),
                            word(diagnostic, "code"));
    for (const json& kernel : check.at("kernels")) {
        text += fmt::format("kernel {}, line {}\n", word(kernel, "name"), line(kernel));
        addBottleneck(text, kernel.at("bottleneck"));
        for (const json& launch : kernel.at("launches"))
            text += fmt::format("  launch <<<{}, {}>>>, line {}\n", word(launch, "grid"),
                                word(launch, "block"), line(launch));
    }
    return text.empty() ? "no kernel and no diagnostic\n" : text;
}

std::string planText(const json& kernel) {
    std::string text = fmt::format("kernel {}\n", word(kernel, "name"));
    addBottleneck(text, kernel.at("bottleneck"));
    for (const json& skill : kernel.at("skills"))
        text += fmt::format("  skill {} (line {}): {}\n    {}\n", word(skill, "id"), line(skill),
                            word(skill, "title"), word(skill, "why"));
    for (const json& remedy : kernel.at("remedies"))
        text += fmt::format("  by hand: {}: {}\n    not automated: {}\n", word(remedy, "method"),
                            word(remedy, "text"), word(remedy, "why"));
    if (kernel.at("skills").empty())
        text += "  no skill fits\n";
    return text + fmt::format("  {} other skills do not fit; ruled_out says why\n",
                              kernel.at("ruled_out").size());
}

std::string profileText(const engine::KernelReport& report) {
    const engine::Profile& profile = *report.profile;
    std::string text = fmt::format("{} on the {}: {}\n", profile.kernel, profile.executor,
                                   describeLaunch(profile.launch));
    for (const std::string& note : profile.launch.notes)
        text += fmt::format("  note: {}\n", note);
    const std::string headroom = describeHeadroom(*report.bottleneck);
    text += fmt::format("  bottleneck: {}{}\n", spelling(report.bottleneck->kind),
                        headroom.empty() ? "" : ", " + headroom);
    for (const engine::Evidence& evidence : report.bottleneck->evidence)
        text += fmt::format("    {}\n", describeEvidence(evidence));
    for (const std::string& sentence : gpuLines(report))
        text += fmt::format("  {}\n", sentence);
    for (const MetricSection& section : metricSections(reportMetrics(report)))
        for (const MetricText& metric : section.metrics)
            text += fmt::format("  {}: {} ({})\n", metric.label, metric.value, metric.name);
    for (const engine::Hazard& hazard : profile.hazards)
        text += fmt::format("  hazard, line {}: {}{}: {}\n", hazard.line + 1, spelling(hazard.kind),
                            hazard.certain ? "" : " suspected", hazard.message);
    return text;
}

std::string memoryText(const json& memory) {
    if (memory.at("entries").empty())
        return "nothing has been tried on this file\n";
    std::string text;
    for (const json& entry : memory.at("entries"))
        text += fmt::format("{} {} {} {} {}\n  {}\n", word(entry, "time"), word(entry, "kind"),
                            word(entry, "kernel"), word(entry, "skill"), word(entry, "status"),
                            word(entry, "detail"));
    return text;
}

std::string verdictText(const engine::Verdict& verdict) {
    std::string text = fmt::format("verdict: {}: {}\n", spelling(verdict.status), verdict.summary);
    addChecks(text, verdict);
    addCounts(text, verdict);
    return text;
}

std::string verificationText(const engine::Verification& verification, const std::string& against) {
    std::string text = fmt::format("{}: against {}, {}\n", wordFor(verification.outcome()), against,
                                   engine::summaryOf(verification));
    for (const engine::JudgedKernel& kernel : verification.kernels) {
        text += fmt::format("{} ({}): {}", kernel.change.name, differencesOf(kernel.change),
                            wordFor(kernel.outcome));
        const bool isRight = kernel.outcome == engine::ChangeOutcome::Right;
        if (kernel.verdict)
            text += isRight ? fmt::format(", {}: {}", spelling(kernel.verdict->confidence),
                                          kernel.verdict->summary)
                            : fmt::format(" ({})", spelling(kernel.verdict->status));
        if (!kernel.note.empty())
            text += fmt::format(": {}", kernel.note);
        text += fmt::format(" ({:.1f} s)\n", kernel.seconds);
        if (kernel.diagnosis)
            addDiagnosis(text, *kernel.diagnosis);
        if (kernel.verdict) {
            addChecks(text, *kernel.verdict);
            if (isRight)
                addCounts(text, *kernel.verdict);
        }
    }
    if (verification.host)
        text += fmt::format("code around the kernels: {}: {}\n",
                            wordFor(verification.host->outcome), verification.host->detail);
    return text;
}

std::string optimizationText(const engine::Optimization& found) {
    std::string text = summaryOf(found) + "\n";
    for (const engine::Attempt& attempt : found.attempts) {
        text +=
            fmt::format("round {}: {} {}: {}\n", attempt.round, attempt.isKept ? "kept" : "dropped",
                        attempt.plan.offer.skillId, attempt.decision);
        if (attempt.diagnosis)
            addDiagnosis(text, *attempt.diagnosis);
    }
    if (!found.diff.empty())
        text += "\n" + found.diff;
    if (found.verdict)
        text += fmt::format("all edits together: {}\n", found.verdict->summary);
    if (found.remaining)
        for (const RemainingLine& left : remainingLines(*found.remaining))
            text += fmt::format("{}: {}\n", left.label, left.text);
    return text;
}

} // namespace kernelskill::lsp
