#include "lsp-server/report/verification_page.h"

#include "lsp-server/report/access_cost.h"
#include "lsp-server/report/verification_json.h"

#include <utility>

namespace kernelskill::lsp {

namespace {

Table checksOf(const engine::Verdict& verdict) {
    Table table;
    table.columns = {{"check"}, {""}, {"seen"}};
    for (const engine::Check& check : verdict.checks)
        table.rows.push_back(
            {{check.name},
             {check.passed ? "holds" : "failed", {}, check.passed ? Tone::Good : Tone::Bad},
             {check.detail, {}, Tone::Quiet}});
    return table;
}

Table countsOf(const engine::Verdict& verdict) {
    Table table;
    table.columns = {{"counter", false, true}, {"before", true}, {"after", true}};
    for (const auto& [name, after] : verdict.after) {
        const auto before = verdict.before.find(name);
        if (before != verdict.before.end() && before->second != after)
            table.rows.push_back({{name}, {formatNumber(before->second)}, {formatNumber(after)}});
    }
    return table;
}

FactList factsOf(const engine::CandidateDiagnosis& diagnosis) {
    FactList list;
    list.facts.push_back({"cause", diagnosis.cause, diagnosis.sentence});
    for (const std::string& seen : diagnosis.evidence)
        list.facts.push_back({"seen", seen, ""});
    if (!diagnosis.invariant.empty())
        list.facts.push_back({"must hold", diagnosis.invariant, ""});
    if (!diagnosis.repair.empty())
        list.facts.push_back({"may help", diagnosis.repair, "not tried"});
    return list;
}

} // namespace

ReportSection judgementSection(const engine::JudgedKernel& judged, const std::string& against) {
    ReportSection section{"Compared with " + against, {}, {}};
    section.blocks.emplace_back(Paragraph{
        describe(judged), judged.outcome == engine::ChangeOutcome::Right ? Tone::Good : Tone::Bad});
    if (judged.diagnosis)
        section.blocks.emplace_back(factsOf(*judged.diagnosis));
    if (judged.verdict) {
        section.blocks.emplace_back(checksOf(*judged.verdict));
        if (Table counts = countsOf(*judged.verdict); !counts.rows.empty())
            section.blocks.emplace_back(std::move(counts));
    }
    return section;
}

} // namespace kernelskill::lsp
