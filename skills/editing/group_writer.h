/// Elementwise kernels rewritten so that a thread works on a group of neighbouring elements.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/editing/code_lines.h"
#include "skills/gates/element_groups.h"

#include <functional>
#include <vector>

namespace kernelskill::skills {

/// Adds the statements that work on a group, whose vectors are loaded before and stored behind.
using GroupWork = std::function<void(CodeLines&)>;

/// The kernel on groups, with a scalar path for what is left or not aligned, and its launches.
/// Without `work` a group's elements are worked on one after the other, as the kernel does.
[[nodiscard]] std::vector<analysis::TextEdit> groupEdits(const SkillContext& context,
                                                         const analysis::CodeMap& code,
                                                         const ElementGroups& groups,
                                                         const GroupWork& work = {});

} // namespace kernelskill::skills
