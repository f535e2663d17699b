/// What values an integral expression of a kernel can have, as far as types, operators, loops and
/// guards in the text bound them.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/skill.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::skills {

/// Both ends included.
struct ValueRange {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool operator==(const ValueRange&) const = default;
};

/// Where `expr` stands. nullopt when it is not integral; the range of its type when nothing more is
/// known.
[[nodiscard]] std::optional<ValueRange> rangeOf(const SkillContext& context, const CodeMap& code,
                                                analysis::ExprId expr);

/// The limits that `if (variable < limit)` around `use` puts on a variable that never changes; an
/// expression each, as written.
[[nodiscard]] std::vector<analysis::ExprId> guardLimits(const CodeMap& code, analysis::ExprId use);

} // namespace kernelskill::skills
