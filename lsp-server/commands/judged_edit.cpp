#include "lsp-server/commands/judged_edit.h"

#include "lsp-server/commands/file_writer.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <utility>

namespace kernelskill::lsp {

void printChecked(const Terminal& terminal, const std::string& diff,
                  const engine::Verdict& verdict) {
    fmt::print("{}\n", terminal.paintDiff(diff));
    for (const engine::Check& check : verdict.checks)
        fmt::print("  {} {}{}\n",
                   check.passed ? terminal.paint(Colour::Green, "✓")
                                : terminal.paint(Colour::Red, "✗"),
                   check.name,
                   check.detail.empty() ? "" : terminal.paint(Colour::Dim, "  " + check.detail));
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
