/// Puts a line of code beside a statement, in the file's own style.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/repair/hazard_fixes/hazard_code.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

using Edits = std::optional<std::vector<analysis::TextEdit>>;

/// `code` on a line of its own in front of `statement`, which may be the only one under an `if` or
/// in a loop: then braces are added. nullopt where the text comes out of a macro.
[[nodiscard]] Edits insertedBefore(const HazardCode& code, analysis::StmtId statement,
                                   const std::string& line);
[[nodiscard]] Edits insertedAfter(const HazardCode& code, analysis::StmtId statement,
                                  const std::string& line);
/// As the last statement of a loop's body.
[[nodiscard]] Edits insertedAtEnd(const HazardCode& code, analysis::StmtId loop,
                                  const std::string& line);

/// `statement` under `if (condition)`, in braces if the file has its single statements in braces.
[[nodiscard]] Edits putUnder(const HazardCode& code, analysis::StmtId statement,
                             const std::string& condition);
/// `if (condition) return;` as the file would break it, for a line of indentation `indentation`.
[[nodiscard]] std::string earlyReturn(const HazardCode& code, const std::string& condition,
                                      const std::string& indentation);

} // namespace kernelskill::engine
