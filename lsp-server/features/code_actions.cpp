#include "lsp-server/features/code_actions.h"

#include "analysis/source/json.h"
#include "engine/repair/compile_diagnoser.h"
#include "engine/workbench/kernel_generation.h"
#include "lsp-server/features/answered_waste.h"
#include "lsp-server/features/diagnostics.h"
#include "lsp-server/features/hazard_fixes.h"
#include "lsp-server/features/ignored_findings.h"
#include "lsp-server/features/launch_pin.h"
#include "lsp-server/features/workspace_edit.h"
#include "lsp-server/report/hazard_text.h"
#include "lsp-server/report/remedy_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// An error is fixed from anywhere on its line: a missing ';' is reported at a place few cursors
/// hit.
bool isOnSameLines(const analysis::SourceText& source, analysis::Span error, analysis::Span range) {
    const analysis::Span lines{source.lineSpan(source.lineColumn(error.begin).line).begin,
                               source.lineSpan(source.lineColumn(error.end).line).end};
    return lines.touches(range);
}

bool touchesLinesOf(const std::vector<analysis::Diagnostic>& diagnostics, const Snapshot& snapshot,
                    analysis::Span range) {
    return std::ranges::any_of(diagnostics, [&](const analysis::Diagnostic& diagnostic) {
        return diagnostic.file == snapshot.model().file &&
               isOnSameLines(snapshot.source(), diagnostic.span, range);
    });
}

class Builder {
public:
    Builder(const Snapshot& snapshot, const CodeActionRequest& request,
            const ClientCapabilities& capabilities)
        : snapshot_(snapshot), request_(request), capabilities_(capabilities),
          canResolve_(capabilities.codeActionResolveEdit && capabilities.codeActionData) {}

    void addFixes(const std::vector<engine::CompileFix>& fixes) {
        if (!isWanted(request_.only, "quickfix"))
            return;
        for (std::size_t i = 0; i < fixes.size(); ++i) {
            const analysis::Diagnostic& error = fixes[i].failure.diagnostic;
            if (error.file == snapshot_.model().file &&
                isOnSameLines(snapshot_.source(), error.span, request_.range))
                addFix(fixes[i], i);
        }
    }

    /// Adds fixes that have been run beside the original: any other is not known to be one.
    void addHazardFixes() {
        if (!request_.offerSkills || !isWanted(request_.only, "quickfix"))
            return;
        const std::vector<HazardFixAt> fixes = hazardFixesAt(snapshot_, request_.range);
        for (const HazardFixAt& fix : fixes)
            addHazardFix(fix, fixes.size() == 1);
    }

    void addSkills() {
        if (!request_.offerSkills ||
            !(isWanted(request_.only, "refactor.rewrite") || mayAnswerDiagnostics()))
            return;
        for (const analysis::KernelModel& kernel : snapshot_.model().kernels) {
            if (!snapshot_.isInMainFile(kernel) || !kernel.span.touches(request_.range))
                continue;
            const engine::Plan plan = snapshot_.workbench->advisor().plan(
                {snapshot_.program, kernel}, request_.range, snapshot_.memory());
            for (const engine::RankedSkill& ranked : plan.ranked)
                addSkill(kernel, ranked, plan.uncheckable);
        }
    }

    /// Offers "Why is nothing offered?" on a kernel that has no offer on any of its lines, because
    /// a missing light bulb would explain nothing.
    void addReasons() {
        const std::string kind = "refactor.explain";
        if (!request_.offerSkills || !isWanted(request_.only, kind))
            return;
        for (const analysis::KernelModel& kernel : snapshot_.model().kernels) {
            if (!snapshot_.isInMainFile(kernel) || !kernel.span.touches(request_.range) ||
                hasErrorAt(snapshot_, kernel.span))
                continue;
            const engine::Plan plan = snapshot_.workbench->advisor().plan(
                {snapshot_.program, kernel}, kernel.span, snapshot_.memory());
            if (plan.ranked.empty() && !plan.ruledOut.empty())
                addCommand("Why is nothing offered?", kind, "kernelskill.explainOffers", kernel);
        }
    }

    void addKernels() {
        const std::string kind = "refactor.rewrite.generate-kernel";
        if (!request_.offerSkills || !isWanted(request_.only, kind))
            return;
        for (const engine::KernelOffer& offer :
             engine::kernelOffers(snapshot_.model(), request_.range)) {
            const std::string title = fmt::format("Generate kernel from '{}'", offer.function);
            json data{{"type", "generate"},
                      {"uri", snapshot_.uri},
                      {"version", snapshot_.version},
                      {"function", offer.function},
                      {"why", offer.why}};
            addResolvable(title, kind, "kernelskill.generate", std::move(data));
        }
    }

    /// A command, not an edit by resolve: it takes minutes, with progress.
    void addOptimizations() {
        if (!request_.offerSkills || !isWanted(request_.only, "source.optimize"))
            return;
        for (const analysis::KernelModel& kernel : snapshot_.model().kernels) {
            if (!snapshot_.isInMainFile(kernel) || !kernel.span.touches(request_.range) ||
                hasErrorAt(snapshot_, kernel.span))
                continue;
            addCommand(fmt::format("Optimize kernel '{}'", kernel.name), "source.optimize",
                       "kernelskill.optimize", kernel);
        }
    }

    /// Offers to pin the launch of a kernel whose last profile ran on a guess.
    void addPins() {
        const std::string kind = "refactor.rewrite.pin-launch";
        if (!capabilities_.codeActionLiterals ||
            !(isWanted(request_.only, kind) || isWanted(request_.only, "quickfix")))
            return;
        for (const analysis::KernelModel& kernel : snapshot_.model().kernels) {
            if (!snapshot_.isInMainFile(kernel) || !kernel.span.touches(request_.range))
                continue;
            const auto pin = launchPinFor(snapshot_, kernel);
            if (!pin)
                continue;
            json guessed = matching(guessedHazards(kernel));
            const std::string kept = guessed.empty() ? kind : "quickfix";
            if (isWanted(request_.only, kept))
                addEdit(fmt::format("Pin the launch of '{}'", kernel.name), kept, *pin,
                        std::move(guessed));
        }
    }

    /// Offers a comment that ignores it, for each finding that the client asks about.
    void addIgnores() {
        if (!mayAnswerDiagnostics())
            return;
        std::map<std::pair<std::uint32_t, std::string>, std::vector<analysis::Diagnostic>> ignored;
        for (analysis::Diagnostic& finding : findingsAt(request_.range)) {
            const auto line = snapshot_.source().lineColumn(finding.span.begin).line;
            ignored[{line, finding.code}].push_back(std::move(finding));
        }
        for (const auto& [place, findings] : ignored) {
            json asked = matching(findings);
            const auto comment = ignoringComment(findings.front(), snapshot_.source());
            if (!asked.empty() && comment)
                addEdit(fmt::format("Ignore '{}' on line {}", place.second, place.first + 1),
                        "quickfix", *comment, std::move(asked));
        }
    }

    json take() { return std::move(actions_); }

private:
    /// The hazards and the waste on the lines of `range` that are shown, and are no errors.
    std::vector<analysis::Diagnostic> findingsAt(analysis::Span range) const {
        std::vector<analysis::Diagnostic> findings = hazardDiagnostics(snapshot_);
        for (const analysis::KernelModel& kernel : snapshot_.model().kernels)
            if (kernel.span.touches(range))
                for (Waste& waste : wasteOf(snapshot_, kernel))
                    findings.push_back(std::move(waste.diagnostic));
        ignoreFindings(findings, snapshot_.model().file, snapshot_.source());
        std::erase_if(findings, [&](const analysis::Diagnostic& finding) {
            return finding.severity == analysis::Severity::Error ||
                   finding.file != snapshot_.model().file || !mayBeIgnored(finding) ||
                   !isOnSameLines(snapshot_.source(), finding.span, range);
        });
        return findings;
    }

    /// The hazards of the kernel's last profile that may be the guess.
    std::vector<analysis::Diagnostic> guessedHazards(const analysis::KernelModel& kernel) const {
        std::vector<analysis::Diagnostic> hazards;
        TextLookup texts(snapshot_.program);
        if (const auto profile =
                snapshot_.workbench->knowledge().cachedProfile({snapshot_.program, kernel}))
            for (const engine::Hazard& hazard : profile->hazards)
                if (mayBeTheGuess(hazard, profile->launch))
                    hazards.push_back(hazardDiagnostic(snapshot_, kernel, hazard, texts));
        return hazards;
    }

    /// A command on the kernel of this version of the document.
    void addCommand(const std::string& title, const std::string& kind, const char* name,
                    const analysis::KernelModel& kernel) {
        json command{{"title", title},
                     {"command", name},
                     {"arguments", json::array({{{"uri", snapshot_.uri},
                                                 {"version", snapshot_.version},
                                                 {"kernel", kernel.qualifiedName}}})}};
        if (capabilities_.codeActionLiterals)
            actions_.push_back({{"title", title}, {"kind", kind}, {"command", std::move(command)}});
        else
            actions_.push_back(std::move(command));
    }

    /// An edit that needs no check.
    void addEdit(const std::string& title, const std::string& kind, const analysis::TextEdit& edit,
                 json diagnostics) {
        json action{{"title", title},
                    {"kind", kind},
                    {"edit", workspaceEdit(analysis::EditSet{{snapshot_.model().file, {edit}}},
                                           snapshot_, capabilities_)}};
        if (!diagnostics.empty())
            action["diagnostics"] = std::move(diagnostics);
        actions_.push_back(std::move(action));
    }

    /// Those of `diagnostics` that the client sent back, as it sent them; each once.
    json matching(const std::vector<analysis::Diagnostic>& diagnostics) const {
        json matching = json::array();
        if (!request_.contextDiagnostics.is_array())
            return matching;
        for (const json& candidate : request_.contextDiagnostics) {
            if (std::ranges::any_of(diagnostics, [&](const analysis::Diagnostic& diagnostic) {
                    return isSame(candidate, diagnostic);
                }))
                matching.push_back(candidate);
        }
        return matching;
    }

    bool isSame(const json& candidate, const analysis::Diagnostic& diagnostic) const {
        return candidate.is_object() && candidate.contains("range") &&
               candidate.value("code", json()) == json(diagnostic.code) &&
               candidate.at("range").get<Range>().start ==
                   toPosition(snapshot_.source(), diagnostic.span.begin,
                              capabilities_.positionEncoding);
    }

    void addFix(const engine::CompileFix& fix, std::size_t index) {
        json data{{"type", "fix"},
                  {"uri", snapshot_.uri},
                  {"version", snapshot_.version},
                  {"index", index},
                  {"title", fix.title}};
        const bool isError = fix.failure.diagnostic.severity == analysis::Severity::Error;
        addQuickFix((isError ? "Fix compile error: " : "Fix: ") + fix.title, std::move(data),
                    matching({fix.failure.diagnostic}), fix.isSole, [&] { return fix.edits; });
    }

    void addHazardFix(const HazardFixAt& fix, bool isSole) {
        const std::string title = fix.title();
        json data{{"type", "hazardFix"},
                  {"uri", snapshot_.uri},
                  {"version", snapshot_.version},
                  {"kernel", fix.kernel->qualifiedName},
                  {"title", title}};
        TextLookup texts(snapshot_.program);
        std::vector<analysis::Diagnostic> fixed;
        for (const engine::Hazard& hazard : fix.hazards)
            fixed.push_back(hazardDiagnostic(snapshot_, *fix.kernel, hazard, texts));
        addQuickFix(title, std::move(data), matching(fixed), isSole,
                    [&] { return fix.edits(snapshot_); });
    }

    /// `editsOf` is called only where the client cannot ask for the edits later.
    template <typename EditsOf>
    void addQuickFix(const std::string& title, json data, json diagnostics, bool isSole,
                     EditsOf editsOf) {
        if (!capabilities_.codeActionLiterals) {
            actions_.push_back({{"title", title},
                                {"command", "kernelskill.applyFix"},
                                {"arguments", json::array({std::move(data)})}});
            return;
        }
        json action{{"title", title}, {"kind", "quickfix"}};
        if (!diagnostics.empty())
            action["diagnostics"] = std::move(diagnostics);
        if (isSole && capabilities_.codeActionIsPreferred)
            action["isPreferred"] = true;
        if (canResolve_)
            action["data"] = std::move(data);
        else
            action["edit"] = workspaceEdit(editsOf(), snapshot_, capabilities_);
        actions_.push_back(std::move(action));
    }

    bool mayAnswerDiagnostics() const {
        return capabilities_.codeActionLiterals && isWanted(request_.only, "quickfix") &&
               !request_.contextDiagnostics.empty();
    }

    /// An offer that no run can check is disabled, or marked for an editor that cannot show that.
    void addSkill(const analysis::KernelModel& kernel, const engine::RankedSkill& ranked,
                  const std::optional<Error>& uncheckable) {
        const bool isMarked = uncheckable && !showsDisabled();
        const std::string title =
            "Apply skill: " + ranked.offer.title + (isMarked ? " (cannot be checked)" : "");
        // A skill that answers a diagnostic is a quick fix of it, and not listed again as a
        // refactoring.
        json answered = json::array();
        if (mayAnswerDiagnostics() && !ranked.failedBefore)
            answered = matching(wasteAnsweredBy(snapshot_, kernel, ranked.offer));
        const std::string kind =
            answered.empty() ? "refactor.rewrite." + ranked.offer.skillId : "quickfix";
        if (!isWanted(request_.only, kind))
            return;
        if (ranked.failedBefore)
            return addWithheld(title, kind, ranked.why);
        if (uncheckable && showsDisabled())
            return addWithheld(title, kind, describeUncheckable(*uncheckable));
        json data{{"type", "skill"},
                  {"uri", snapshot_.uri},
                  {"version", snapshot_.version},
                  {"skill", ranked.offer.skillId},
                  {"kernel", ranked.offer.kernelName},
                  {"offer", offerToJson(ranked.offer)}};
        addResolvable(title, kind, "kernelskill.applySkill", std::move(data), std::move(answered));
    }

    bool showsDisabled() const {
        return capabilities_.codeActionLiterals && capabilities_.codeActionDisabled;
    }

    /// Adds a skill that is ruled out, with the reason: only for an editor that shows such actions.
    void addWithheld(const std::string& title, const std::string& kind, const std::string& why) {
        if (showsDisabled())
            actions_.push_back({{"title", title}, {"kind", kind}, {"disabled", {{"reason", why}}}});
    }

    /// Its edit comes by resolve, or else by the command: it has to be made and checked first.
    void addResolvable(const std::string& title, const std::string& kind, const char* name,
                       json data, json diagnostics = json::array()) {
        json command{{"title", title}, {"command", name}, {"arguments", json::array({data})}};
        if (!capabilities_.codeActionLiterals) {
            actions_.push_back(std::move(command));
            return;
        }
        json action{{"title", title}, {"kind", kind}};
        if (!diagnostics.empty())
            action["diagnostics"] = std::move(diagnostics);
        if (canResolve_)
            action["data"] = std::move(data);
        else
            action["command"] = std::move(command);
        actions_.push_back(std::move(action));
    }

    const Snapshot& snapshot_;
    const CodeActionRequest& request_;
    const ClientCapabilities& capabilities_;
    const bool canResolve_;
    json actions_ = json::array();
};

} // namespace

json codeActions(const Snapshot& snapshot, const CodeActionRequest& request, const Fixes& fixes,
                 const ClientCapabilities& capabilities) {
    Builder builder(snapshot, request, capabilities);
    if (fixes)
        builder.addFixes(*fixes);
    builder.addHazardFixes();
    builder.addSkills();
    builder.addKernels();
    builder.addPins();
    builder.addIgnores();
    builder.addOptimizations();
    builder.addReasons();
    return builder.take();
}

bool isWanted(const std::vector<std::string>& only, std::string_view kind) {
    // "refactor" asks for "refactor.rewrite.x"; and to list what may lie below
    // "refactor.rewrite.x", one has to look there, so a request for the child lets the parent pass.
    const auto covers = [](std::string_view parent, std::string_view child) {
        return child.starts_with(parent) &&
               (child.size() == parent.size() || parent.empty() || child[parent.size()] == '.');
    };
    const bool isLeaf = kind != "refactor.rewrite";
    return only.empty() || std::ranges::any_of(only, [&](const std::string& wanted) {
               return covers(wanted, kind) || (!isLeaf && covers(kind, wanted));
           });
}

bool hasErrorAt(const Snapshot& snapshot, analysis::Span range) {
    return touchesLinesOf(engine::compileErrors(snapshot.model()), snapshot, range);
}

bool mayHaveFixAt(const Snapshot& snapshot, analysis::Span range) {
    return touchesLinesOf(engine::repairTargets(snapshot.model().diagnostics), snapshot, range);
}

json offerToJson(const skills::Offer& offer) {
    json result{{"skill", offer.skillId},      {"kernel", offer.kernelName},
                {"begin", offer.anchor.begin}, {"end", offer.anchor.end},
                {"title", offer.title},        {"why", offer.why},
                {"option", offer.option}};
    if (offer.plainAnchor)
        result["plain"] = {offer.plainAnchor->begin, offer.plainAnchor->end};
    if (offer.numerics)
        result["numerics"] = static_cast<int>(*offer.numerics);
    if (offer.error)
        result["error"] = {offer.error->ulps, offer.error->absolute};
    return result;
}

skills::Offer offerFromJson(const json& value) {
    skills::Offer offer;
    value.at("skill").get_to(offer.skillId);
    value.at("kernel").get_to(offer.kernelName);
    value.at("begin").get_to(offer.anchor.begin);
    value.at("end").get_to(offer.anchor.end);
    value.at("title").get_to(offer.title);
    value.at("why").get_to(offer.why);
    value.at("option").get_to(offer.option);
    if (const auto plain = value.find("plain"); plain != value.end())
        offer.plainAnchor =
            analysis::Span{plain->at(0).get<std::uint32_t>(), plain->at(1).get<std::uint32_t>()};
    if (const auto numerics = value.find("numerics"); numerics != value.end()) {
        const int number = numerics->get<int>();
        if (number >= 0 && number <= static_cast<int>(skills::Numerics::ReducedPrecision))
            offer.numerics = static_cast<skills::Numerics>(number);
    }
    if (const auto error = value.find("error"); error != value.end())
        offer.error = skills::StatedError{error->at(0).get<double>(), error->at(1).get<double>()};
    return offer;
}

} // namespace kernelskill::lsp
