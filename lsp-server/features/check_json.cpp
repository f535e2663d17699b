#include "lsp-server/features/check_json.h"

#include "analysis/features/features.h"
#include "analysis/source/json.h"
#include "lsp-server/features/diagnostics.h"
#include "lsp-server/features/ignored_findings.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/report/remedy_text.h"
#include "skills/skill_document.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

class CheckDocument {
public:
    CheckDocument(const Snapshot& snapshot, const std::string& shownName)
        : snapshot_(snapshot), shownName_(shownName), texts_(snapshot),
          diagnostics_(checkDiagnostics(snapshot)) {}

    [[nodiscard]] json document() {
        json diagnostics = json::array();
        for (const analysis::Diagnostic& diagnostic : diagnostics_) {
            json& entry = diagnostics.emplace_back(
                json{{"range", toRange(texts_.textOf(diagnostic.file), diagnostic.span,
                                       PositionEncoding::Utf16)},
                     {"severity", spelling(diagnostic.severity)},
                     {"code", diagnostic.code},
                     {"message", diagnostic.message}});
            if (diagnostic.file != snapshot_.model().file)
                entry["file"] = diagnostic.file;
        }
        json kernels = json::array();
        for (const analysis::KernelModel& kernel : snapshot_.model().kernels)
            if (snapshot_.isListed(kernel))
                kernels.push_back(kernelJson(kernel));
        json document{{"file", shownName_},
                      {"diagnostics", std::move(diagnostics)},
                      {"kernels", std::move(kernels)}};
        if (!snapshot_.model().includer.empty())
            document["read_through"] = snapshot_.model().includer;
        return document;
    }

private:
    json kernelJson(const analysis::KernelModel& kernel) {
        json launches = json::array();
        for (const analysis::LaunchSite& site : kernel.launches) {
            const analysis::HostFunction& host = snapshot_.model().hostFunctions.at(site.host);
            json& launch =
                launches.emplace_back(json{{"line", texts_.lineOf(host.file, site.span.begin)},
                                           {"grid", texts_.sourceOf(host, site.grid)},
                                           {"block", texts_.sourceOf(host, site.block)}});
            if (host.file != snapshot_.model().file)
                launch["file"] = host.file;
        }
        const engine::Plan plan = listedPlan(snapshot_, kernel);
        json skills = json::array();
        for (const engine::RankedSkill& ranked : plan.ranked)
            skills.push_back(skillOffer(ranked, kernel));
        json remedies = json::array();
        for (const engine::Remedy& remedy : plan.remedies)
            remedies.push_back(remedyJson(remedy));
        json ruledOut = json::array();
        for (const engine::RuledOut& skill : plan.ruledOut)
            ruledOut.push_back({{"skill", skill.skill}, {"why", skill.why}});
        json features = json::object();
        for (const auto& [name, value] : analysis::describeFeatures(
                 *snapshot_.workbench->knowledge().features({snapshot_.program, kernel})))
            std::visit([&](auto each) { features[name] = each; }, value);
        json entry{{"name", kernel.qualifiedName},
                   {"line", texts_.lineOf(kernel.file, kernel.nameSpan.begin)},
                   {"launches", std::move(launches)},
                   {"features", std::move(features)},
                   {"bottleneck", bottleneckJson(*snapshot_.workbench->knowledge().diagnosis(
                                      {snapshot_.program, kernel}))},
                   {"skills", std::move(skills)},
                   {"remedies", std::move(remedies)},
                   {"ruled_out", std::move(ruledOut)}};
        if (plan.uncheckable)
            entry["uncheckable"] = describeUncheckable(*plan.uncheckable);
        if (!snapshot_.isInMainFile(kernel))
            entry["file"] = kernel.file;
        return entry;
    }

    json skillOffer(const engine::RankedSkill& ranked, const analysis::KernelModel& kernel) {
        json entry{{"id", ranked.offer.skillId},
                   {"title", ranked.offer.title},
                   {"why", ranked.why},
                   {"fits", ranked.offer.why},
                   {"expected", ranked.expected},
                   {"role", skills::spelling(ranked.role)},
                   {"answers", engine::spelling(ranked.answers)},
                   {"line", texts_.lineOf(kernel.file, ranked.offer.anchor.begin)},
                   {"failed_before", ranked.failedBefore}};
        const auto& all = snapshot_.workbench->library().documents;
        const auto metadata =
            std::ranges::find(all, ranked.offer.skillId, &skills::SkillMetadata::id);
        if (metadata != all.end()) {
            entry["kind"] = skills::spelling(metadata->kind);
            entry["numerics"] =
                skills::spelling(ranked.offer.numerics.value_or(metadata->numerics));
        }
        return entry;
    }

    const Snapshot& snapshot_;
    const std::string& shownName_;
    CheckedTexts texts_;
    std::vector<analysis::Diagnostic> diagnostics_;
};

} // namespace

std::string_view spelling(analysis::Severity severity) {
    switch (severity) {
    case analysis::Severity::Error:
        return "error";
    case analysis::Severity::Warning:
        return "warning";
    case analysis::Severity::Information:
        return "information";
    case analysis::Severity::Hint:
        break;
    }
    return "hint";
}

std::vector<analysis::Diagnostic> checkDiagnostics(const Snapshot& snapshot) {
    std::vector<analysis::Diagnostic> diagnostics = snapshot.model().diagnostics;
    std::ranges::move(pinDiagnostics(snapshot), std::back_inserter(diagnostics));
    std::ranges::move(wasteDiagnostics(snapshot), std::back_inserter(diagnostics));
    ignoreFindings(diagnostics, snapshot.model().file, snapshot.source());
    return diagnostics;
}

engine::Plan listedPlan(const Snapshot& snapshot, const analysis::KernelModel& kernel) {
    if (!snapshot.isInMainFile(kernel))
        return {};
    return snapshot.workbench->advisor().plan({snapshot.program, kernel}, kernel.span,
                                              snapshot.memory());
}

json checkJson(const Snapshot& snapshot, const std::string& shownName) {
    return CheckDocument(snapshot, shownName).document();
}

} // namespace kernelskill::lsp
