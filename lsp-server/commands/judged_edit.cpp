#include "lsp-server/commands/judged_edit.h"

#include "analysis/source/json.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/report/access_cost.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <utility>

namespace kernelskill::lsp {

void printChecked(const Terminal& terminal, const std::string& diff,
                  const engine::Verdict& verdict) {
    fmt::print("{}\n", terminal.paintDiff(diff));
    printChecks(terminal, verdict);
}

void printChecks(const Terminal& terminal, const engine::Verdict& verdict) {
    for (const engine::Check& check : verdict.checks)
        fmt::print("  {} {}{}\n",
                   check.passed ? terminal.paint(Colour::Green, "✓")
                                : terminal.paint(Colour::Red, "✗"),
                   check.name,
                   check.detail.empty() ? "" : terminal.paint(Colour::Dim, "  " + check.detail));
}

void printCounters(const Terminal& terminal, const engine::Verdict& verdict) {
    for (const auto& [name, after] : verdict.after) {
        const auto before = verdict.before.find(name);
        if (before != verdict.before.end() && before->second != after)
            fmt::print("  {}  {} → {}\n", terminal.paint(Colour::Dim, name),
                       formatNumber(before->second), formatNumber(after));
    }
}

void printVerdict(const Terminal& terminal, const engine::Verdict& verdict, bool isAcceptable) {
    fmt::print("verdict: {}  {}\n",
               terminal.paint(isAcceptable ? Colour::Green : Colour::Red, spelling(verdict.status)),
               verdict.summary);
}

int reportNotOffered(const Error& error, nlohmann::json document, const Invocation& invocation) {
    if (!invocation.json)
        return reportError(error, invocation);
    document["edits"] = nlohmann::json::array();
    document["verdict"] = {
        {"status", "invalid"},
        {"checks", {{{"name", "offered"}, {"passed", false}, {"detail", error.what}}}},
        {"speedup", nullptr},
        {"summary", error.what}};
    printJson(document);
    fmt::print(stderr, "{}\n", error.what);
    return exitNothingFound;
}

int finishEdit(const JudgedEdit& edit, const std::string& file, TextLookup& texts, bool write,
               const Invocation& invocation) {
    if (!edit.isAcceptable) {
        fmt::print(stderr, "not applied: {} is {}\n", edit.called, spelling(edit.verdict.status));
        return exitNothingFound;
    }
    if (write) {
        if (const auto written = writeEdits(edit.edits, texts); !written)
            return reportError(written.error(), invocation);
        fmt::print(stderr, "written: {}\n", file);
    }
    return exitDone;
}

} // namespace kernelskill::lsp
