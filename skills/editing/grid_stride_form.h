/// The grid-stride form of a kernel that gives one element to each thread.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/gates/elementwise_kernel.h"

#include <expected>
#include <vector>

namespace kernelskill::skills {

/// Refuses with `several-statements-a-line` where an edit could not keep the bounds check apart.
[[nodiscard]] Gated<void> requireLoopLines(const SkillContext& context,
                                           const analysis::CodeMap& code,
                                           const ElementwiseKernel& found);

/// Edits that turn the index and its bounds check into a loop over the data in steps of the whole
/// grid. An early return's loop is closed at the start of the line of the kernel's own bracket,
/// where more may follow. Needs requireLoopLines().
[[nodiscard]] std::vector<analysis::TextEdit> gridStrideEdits(const SkillContext& context,
                                                              const analysis::CodeMap& code,
                                                              const ElementwiseKernel& found);

/// Whether gridStrideEdits() puts brackets around the work, because it is one statement.
[[nodiscard]] bool putsIntoBlock(const SkillContext& context, const analysis::CodeMap& code,
                                 const ElementwiseKernel& found);

} // namespace kernelskill::skills
