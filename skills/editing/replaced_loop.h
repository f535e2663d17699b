/// Edits that put other code in the place of a loop.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/text_edit.h"
#include "skills/editing/code_lines.h"

#include <span>
#include <vector>

namespace kernelskill::skills {

/// Replaces the loop and its pragma by `lines`, which are indented as the loop is, and removes the
/// declarations of `freed` outside of it: names that nothing but the loop used. A declaration of
/// several names stays.
[[nodiscard]] std::vector<analysis::TextEdit>
loopReplacedBy(const CodeLines& lines, const analysis::SourceLayout& layout,
               const analysis::CodeMap& code, analysis::StmtId loop,
               std::span<const analysis::VariableId> freed);

} // namespace kernelskill::skills
