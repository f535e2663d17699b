/// Elementwise work on 16-bit floats, and the same on pairs of them.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"
#include "skills/gates/element_groups.h"

#include <cstddef>
#include <expected>
#include <vector>

namespace kernelskill::skills {

struct PackedWork {
    ElementGroups groups;                    ///< The groups, of two elements each.
    std::vector<analysis::TextEdit> changes; ///< That make of the work's statements those on pairs.
    std::size_t operations = 0;              ///< The operations on one element.
};

/// Refuses with the first gate that does not hold; see those of planElementGroups(), too:
/// `not-16-bit`, `scalar-access`, `not-packed`.
[[nodiscard]] Gated<PackedWork> packWork(const SkillContext& context,
                                         const analysis::CodeMap& code);

} // namespace kernelskill::skills
