/// Steps that all commands with a reviewed edit share: show it, refuse it, write it.
#pragma once

#include "engine/verdict/verdict.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/documents/text_lookup.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kernelskill::lsp {

/// The diff and the checks, as the terminal shows them.
void printChecked(const Terminal& terminal, const std::string& diff,
                  const engine::Verdict& verdict);

void printChecks(const Terminal& terminal, const engine::Verdict& verdict);

/// The counters that differ, before and after.
void printCounters(const Terminal& terminal, const engine::Verdict& verdict);

void printVerdict(const Terminal& terminal, const engine::Verdict& verdict, bool isAcceptable);

/// Answers that nothing is offered, which is an answer and no error: `document` as far as it goes,
/// with a verdict that says why. Returns the exit status.
int reportNotOffered(const Error& error, nlohmann::json document, const Invocation& invocation);

struct JudgedEdit {
    const analysis::EditSet& edits;
    const engine::Verdict& verdict;
    bool isAcceptable = false;
    std::string called; ///< "the edit", in "not applied: the edit is incorrect"
};

/// Writes the edit to `file` where `write` asks for it and it may be. Returns the exit status.
int finishEdit(const JudgedEdit& edit, const std::string& file, TextLookup& texts, bool write,
               const Invocation& invocation);

} // namespace kernelskill::lsp
