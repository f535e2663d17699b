#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/features/check_json.h"
#include "lsp-server/report/evidence_text.h"
#include "lsp-server/report/remedy_text.h"
#include "lsp-server/report/ruled_out_text.h"
#include "skills/skill_document.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

Colour colourOf(analysis::Severity severity) {
    switch (severity) {
    case analysis::Severity::Error:
        return Colour::Red;
    case analysis::Severity::Warning:
        return Colour::Yellow;
    case analysis::Severity::Information:
    case analysis::Severity::Hint:
        break;
    }
    return Colour::Cyan;
}

class Check {
public:
    Check(const Snapshot& snapshot, const std::string& shownName, bool wantsReasons)
        : snapshot_(snapshot), shownName_(shownName), wantsReasons_(wantsReasons), texts_(snapshot),
          diagnostics_(checkDiagnostics(snapshot)) {}

    void print() {
        const bool areSeveralMissing = std::ranges::count_if(diagnostics_, isMissingHeader) > 1;
        bool areMissingSaid = false;
        for (analysis::Diagnostic diagnostic : diagnostics_) {
            if (areSeveralMissing && isMissingHeader(diagnostic)) {
                if (std::exchange(areMissingSaid, true))
                    continue;
                diagnostic.message =
                    fmt::format("headers that were not found: {}; name their folders behind '--', "
                                "as in kernelskill check {} -- -Iinclude",
                                fmt::join(missingHeaders(), ", "), shownName_);
            }
            printDiagnostic(diagnostic);
        }
        for (const analysis::KernelModel& kernel : snapshot_.model().kernels)
            if (snapshot_.isListed(kernel))
                printKernel(kernel);
        if (std::ranges::none_of(snapshot_.model().kernels,
                                 [&](const auto& kernel) { return snapshot_.isListed(kernel); }))
            fmt::print("{}: no kernel\n", shownName_);
    }

private:
    static bool isMissingHeader(const analysis::Diagnostic& diagnostic) {
        return diagnostic.code == "include-not-found";
    }

    /// Returns the headers that were not found, each of them once, in the order of the file.
    [[nodiscard]] std::vector<std::string> missingHeaders() const {
        std::vector<std::string> names;
        for (const analysis::Diagnostic& diagnostic : diagnostics_) {
            if (!isMissingHeader(diagnostic))
                continue;
            const auto open = diagnostic.message.find('\'');
            const auto close = diagnostic.message.rfind('\'');
            std::string name = close > open ? diagnostic.message.substr(open, close + 1 - open)
                                            : diagnostic.message;
            if (std::ranges::find(names, name) == names.end())
                names.push_back(std::move(name));
        }
        return names;
    }

    void printDiagnostic(const analysis::Diagnostic& diagnostic) {
        const analysis::SourceText& text = texts_.textOf(diagnostic.file);
        const auto [line, column] = text.lineColumn(diagnostic.span.begin);
        const std::string name =
            diagnostic.file == snapshot_.model().file ? shownName_ : diagnostic.file;
        fmt::print(
            "{}: {} {} [{}]\n",
            terminal_.paint(Colour::Bold, fmt::format("{}:{}:{}", name, line + 1, column + 1)),
            terminal_.paint(colourOf(diagnostic.severity),
                            fmt::format("{}:", spelling(diagnostic.severity))),
            diagnostic.message, diagnostic.code);
        std::string source(text.line(line));
        std::ranges::replace(source, '\t', ' ');
        const std::size_t length = std::clamp<std::size_t>(
            diagnostic.span.size(), 1,
            std::max<std::size_t>(source.size() - std::min<std::size_t>(column, source.size()), 1));
        fmt::print("{:5} | {}\n      | {:{}}{}\n", line + 1, source, "", column,
                   terminal_.paint(Colour::Green, "^" + std::string(length - 1, '~')));
    }

    void printKernel(const analysis::KernelModel& kernel) {
        const auto bottleneck =
            snapshot_.workbench->knowledge().diagnosis({snapshot_.program, kernel});
        fmt::print("\n{}  {}:{}\n", terminal_.paint(Colour::Bold, kernel.qualifiedName),
                   snapshot_.isInMainFile(kernel) ? shownName_ : kernel.file,
                   texts_.lineOf(kernel.file, kernel.nameSpan.begin) + 1);
        const std::string headroom = describeHeadroom(*bottleneck);
        fmt::print("  {}  {}{}\n", label("bottleneck"),
                   terminal_.paint(Colour::Yellow, engine::spelling(bottleneck->kind)),
                   headroom.empty() ? "" : ", " + headroom);
        for (const engine::Evidence& evidence : bottleneck->evidence)
            fmt::print("  {}  {}\n", label(""), describeEvidence(evidence));
        for (const analysis::LaunchSite& site : kernel.launches) {
            const auto& host = snapshot_.model().hostFunctions.at(site.host);
            const std::string of =
                host.file == snapshot_.model().file
                    ? std::string()
                    : fmt::format(" of {}", std::filesystem::path(host.file).filename().string());
            fmt::print("  {}  <<<{}, {}>>> (line {}{})\n", label("launch"),
                       texts_.sourceOf(host, site.grid), texts_.sourceOf(host, site.block),
                       texts_.lineOf(host.file, site.span.begin) + 1, of);
        }
        printPlan(kernel);
    }

    void printPlan(const analysis::KernelModel& kernel) {
        const engine::Plan plan = listedPlan(snapshot_, kernel);
        const bool isAnswered = std::ranges::any_of(plan.ranked, [](const auto& ranked) {
            return ranked.answers == engine::AnswersTo::Leading && !ranked.failedBefore;
        });
        // Remedies come first where nothing that is offered helps.
        if (!isAnswered)
            printRemedies(plan, "skills");
        std::size_t number = 0;
        std::string_view last = isAnswered || plan.remedies.empty() ? "" : "skills";
        for (const engine::RankedSkill& ranked : plan.ranked) {
            const std::string_view part = partOf(ranked);
            fmt::print("  {}  {}. {} {}\n", label(part == last ? "" : part), number + 1,
                       terminal_.paint(Colour::Bold, ranked.offer.skillId),
                       terminal_.paint(
                           Colour::Dim,
                           fmt::format("(line {})",
                                       texts_.lineOf(kernel.file, ranked.offer.anchor.begin) + 1)));
            fmt::print("  {}     {}\n", label(""), ranked.offer.title);
            fmt::print("  {}     {}\n", label(""), ranked.why);
            last = part;
            ++number;
        }
        if (plan.uncheckable && !plan.ranked.empty())
            fmt::print("  {}  {}\n", label("unchecked"),
                       terminal_.paint(Colour::Yellow, describeUncheckable(*plan.uncheckable)));
        if (isAnswered)
            printRemedies(plan, "by hand");
        if (!snapshot_.isInMainFile(kernel))
            fmt::print(
                "  {}  {}\n", label("skills"),
                terminal_.paint(Colour::Dim, fmt::format("`check {}` lists what fits: edits "
                                                         "are offered in a kernel's own file",
                                                         kernel.file)));
        if (plan.ruledOut.empty())
            return;
        if (!wantsReasons_) {
            const bool isFirst = plan.ranked.empty() && plan.remedies.empty();
            fmt::print("  {}  {}\n", label(isFirst ? "skills" : ""),
                       terminal_.paint(Colour::Dim, whyNot(plan)));
            return;
        }
        std::string_view heading = "ruled out";
        for (const RuledOutGroup& group : groupByReason(plan.ruledOut, plan.ranked.size())) {
            fmt::print(
                "  {}  {}\n", label(heading),
                terminal_.paint(Colour::Dim, fmt::format("{}: {}", group.skills, group.why)));
            heading = "";
        }
    }

    /// Says that there are reasons, and how to see them.
    static std::string whyNot(const engine::Plan& plan) {
        return plan.ranked.empty()
                   ? std::string("no skill fits. Why is nothing offered? `check --why` tells")
                   : fmt::format("{} other skills do not fit; `check --why` tells the reasons",
                                 plan.ruledOut.size());
    }

    void printRemedies(const engine::Plan& plan, std::string_view heading) {
        for (const engine::Remedy& remedy : plan.remedies) {
            fmt::print("  {}  {} {}\n", label(heading),
                       terminal_.paint(Colour::Bold, remedy.method + ":"), describeRemedy(remedy));
            heading = "";
        }
    }

    /// The heading that a skill stands under.
    static std::string_view partOf(const engine::RankedSkill& ranked) {
        if (ranked.role == skills::SkillRole::Hygiene)
            return "hygiene";
        return ranked.answers == engine::AnswersTo::Nothing ? "also fits" : "skills";
    }

    [[nodiscard]] std::string label(std::string_view text) const {
        return terminal_.paint(Colour::Cyan, fmt::format("{:10}", text));
    }

    const Snapshot& snapshot_;
    const std::string& shownName_;
    const bool wantsReasons_; ///< Prints why skills are ruled out.
    const Terminal terminal_{stdout};
    CheckedTexts texts_;
    std::vector<analysis::Diagnostic> diagnostics_;
};

int runCheck(const std::string& file, bool wantsReasons, const Invocation& invocation) {
    const auto snapshot = openInput(file, invocation.options);
    if (!snapshot)
        return reportError(snapshot.error(), invocation);
    // The facts that the GPU's compiler gave when the kernel was last profiled.
    for (const analysis::KernelModel& kernel : (*snapshot)->model().kernels)
        std::ignore = (*snapshot)->workbench->profiler().compile(
            {(*snapshot)->program, kernel}, engine::Profiler::Compiler::OnlyCached, {});
    if (const std::string& includer = (*snapshot)->model().includer; !includer.empty())
        fmt::print(stderr, "note: read as a part of {}, which includes it\n", includer);
    Check check(**snapshot, file, wantsReasons);
    if (invocation.json)
        printJson(checkJson(**snapshot, file));
    else
        check.print();
    const analysis::FileModel& model = (*snapshot)->model();
    const bool hasKernel = std::ranges::any_of(
        model.kernels, [&](const auto& kernel) { return (*snapshot)->isListed(kernel); });
    return !hasKernel && model.diagnostics.empty() ? exitNothingFound : exitDone;
}

} // namespace

void addCheckCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("check", "Show diagnostics, what holds each kernel back, and which skills fit");
    command.footer("\nExamples:\n"
                   "  kernelskill check reduce.cu\n"
                   "  kernelskill check reduce.cu --why\n"
                   "  kernelskill check reduce.cu --json\n"
                   "  kernelskill check reduce.cu -- -Iinclude -std=c++20");
    addJsonFlag(command, invocation);
    const auto file = std::make_shared<std::string>();
    addFileArgument(command, *file);
    const auto wantsReasons = std::make_shared<bool>(false);
    command.flag(
        *wantsReasons,
        {.name = "--why", .help = "Say for each skill that does not fit what speaks against it"});
    command.whenChosen([&invocation, file, wantsReasons] {
        invocation.run = [&invocation, file, wantsReasons] {
            return runCheck(*file, *wantsReasons, invocation);
        };
    });
}

} // namespace kernelskill::lsp
