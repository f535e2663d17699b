/// Inserts a line of code next to a statement, in the file's own style.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/repair/hazard_fixes/hazard_code.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

using Edits = std::optional<std::vector<analysis::TextEdit>>;

/// Inserts `code` on its own line before `statement`. Adds braces if the statement is the only one
/// under an `if` or in a loop. nullopt if the text comes from a macro.
[[nodiscard]] Edits insertedBefore(const HazardCode& code, analysis::StmtId statement,
                                   const std::string& line);
[[nodiscard]] Edits insertedAfter(const HazardCode& code, analysis::StmtId statement,
                                  const std::string& line);
/// Inserts `code` as the last statement of a loop's body.
[[nodiscard]] Edits insertedAtEnd(const HazardCode& code, analysis::StmtId loop,
                                  const std::string& line);

/// Puts `statement` under `if (condition)`, with braces if the file uses braces for single
/// statements.
[[nodiscard]] Edits putUnder(const HazardCode& code, analysis::StmtId statement,
                             const std::string& condition);
/// `if (condition) return;` with line breaks in the file's style, for a line with this indentation.
[[nodiscard]] std::string earlyReturn(const HazardCode& code, const std::string& condition,
                                      const std::string& indentation);

} // namespace kernelskill::engine
