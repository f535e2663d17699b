/// Elementwise work on 16-bit floats, and the same on pairs of them.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/rewriting/element_groups.h"
#include "skills/skill.h"

#include <cstddef>
#include <expected>
#include <vector>

namespace kernelskill::skills {

struct PackedWork {
    ElementGroups groups;                    ///< Of two elements each.
    std::vector<analysis::TextEdit> changes; ///< That make of the work's statements those on pairs.
    std::size_t operations = 0;              ///< Of one element.
};

/// Refuses with the first gate that does not hold; see those of planElementGroups(), too:
/// `not-16-bit`, `scalar-access`, `not-packed`.
[[nodiscard]] std::expected<PackedWork, Refusal> packWork(const SkillContext& context,
                                                          const CodeMap& code);

} // namespace kernelskill::skills
