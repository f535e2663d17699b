/// Text about the threads of a block: which one is first, names for what a block has in common, and
/// lines beside the statements that all of them come to.
#pragma once

#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"
#include "skills/gates/block_collective.h"

#include <string>
#include <string_view>

namespace kernelskill::skills {

/// "block" and "bins" as `blockBins`, or as `block_bins` where that is how the name is written.
[[nodiscard]] std::string joinedName(std::string_view first, std::string name);

/// The condition of the first thread of a block, which is flat if it has one dimension.
[[nodiscard]] std::string_view isFirstThread(bool isFlatBlock);

/// A thread's place in its block, whose remainder by 32 is its lane and whose quotient is its warp.
/// In parentheses unless it is a name.
[[nodiscard]] std::string_view threadInBlock(LaneForm lanes);

/// Whole lines before a statement and the comments over it.
[[nodiscard]] analysis::TextEdit linesBefore(const analysis::SourceText& source,
                                             analysis::Span statement, const CodeLines& lines);
/// Whole lines after a statement and the comment behind it.
[[nodiscard]] analysis::TextEdit linesAfter(const analysis::SourceLayout& layout,
                                            analysis::Span statement, const CodeLines& lines);

} // namespace kernelskill::skills
