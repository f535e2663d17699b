/// Divisions of 64 bits whose operands fit 32, and the edit that divides in 32 bits.
#pragma once

#include "skills/schedule/draft.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// `a / b`, `a % b`, `a /= b` or `a %= b` of 64 bits whose operands fit 32.
struct WideDivision {
    analysis::ExprId division = analysis::noId;
    bool isUnsigned = false; ///< Both fit `unsigned`, which is faster; else `int`.
};

struct WideDivisions {
    std::vector<WideDivision> all;          ///< Sorted as in the source; not empty.
    int pairs = 0;                          ///< Different pairs of dividend and divisor.
    analysis::StmtId loop = analysis::noId; ///< The innermost loop around one of them; noId: none.
};

/// Finds the divisions that can be narrowed. Refuses with `no-wide-division`; or, where no such
/// division can be narrowed, with `unknown-extent` or `from-macro`.
[[nodiscard]] Gated<WideDivisions> wideDivisions(const SkillContext& context);

/// Adds the casts that let the divisions run in 32 bits. Results are converted back where narrower
/// numbers would otherwise be computed with.
void narrow(Draft& draft, const SkillContext& context, const WideDivisions& divisions);

} // namespace kernelskill::skills
