/// Text for the threads of a block: how code tells which one is first, names for variables of the
/// block, and lines beside statements that all threads reach.
#pragma once

#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"
#include "skills/gates/block_collective.h"

#include <string>
#include <string_view>

namespace kernelskill::skills {

/// Joins "block" and "bins" to `blockBins`; "block" and "my_bins" to `block_my_bins`.
[[nodiscard]] std::string joinedName(std::string_view first, std::string name);

/// Returns the condition that holds for the first thread of a block alone. A flat block has one
/// dimension.
[[nodiscard]] std::string_view isFirstThread(bool isFlatBlock);

/// Returns the number of threads in a block.
[[nodiscard]] std::string_view threadsOfBlock(bool isFlatBlock);

/// Returns a thread's index in its block: divided by 32 its warp, the remainder its lane. In
/// parentheses unless it is a name.
[[nodiscard]] std::string_view threadInBlock(LaneForm lanes);

/// Adds whole lines before a statement, its pragma and the comments over it.
[[nodiscard]] analysis::TextEdit linesBefore(const analysis::SourceText& source,
                                             const analysis::Stmt& statement,
                                             const CodeLines& lines);
/// Adds whole lines after a statement and the comment behind it.
[[nodiscard]] analysis::TextEdit linesAfter(const analysis::SourceLayout& layout,
                                            analysis::Span statement, const CodeLines& lines);
/// Adds whole lines before the bracket that ends the kernel.
[[nodiscard]] analysis::TextEdit linesAtEnd(const analysis::SourceLayout& layout,
                                            const analysis::KernelModel& kernel,
                                            const CodeLines& lines);

} // namespace kernelskill::skills
