/// Edits that put other code in the place of a loop.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/text_edit.h"
#include "skills/editing/code_lines.h"

#include <span>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Puts `lines`, which are indented as the loop is, in the place of the loop and its pragma, and
/// takes away the declarations of `freed`, names that nothing but the loop used, if they stand
/// outside of it and declare nothing else.
[[nodiscard]] std::vector<analysis::TextEdit>
loopReplacedBy(const CodeLines& lines, const analysis::SourceLayout& layout,
               const analysis::CodeMap& code, analysis::StmtId loop,
               std::span<const analysis::VariableId> freed);

/// A small number as a literal of a type: "1.0f", "1.0", "1".
[[nodiscard]] std::string literalOf(int number, analysis::ScalarKind scalar);

} // namespace kernelskill::skills
