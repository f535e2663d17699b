/// The primitive `narrow`: integers of 64 bits that fit 32 are divided in 32 bits.
#pragma once

#include "skills/schedule/draft.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// `a / b`, `a % b`, `a /= b` or `a %= b` of 64 bits whose operands fit 32.
struct WideDivision {
    analysis::ExprId division = analysis::noId;
    bool isUnsigned = false; ///< Both fit an unsigned number, which is faster; else a signed one.
};

struct WideDivisions {
    std::vector<WideDivision> all;          ///< In the order of the source; not empty.
    int pairs = 0;                          ///< Different ones of dividend and divisor.
    analysis::StmtId loop = analysis::noId; ///< An innermost one that has one; noId: none.
};

/// Refuses with `no-wide-division`; or, where no such division can be narrowed, with
/// `unknown-extent` or `from-macro`.
[[nodiscard]] Gated<WideDivisions> wideDivisions(const SkillContext& context);

/// Divides in 32 bits; results keep their type where more is computed with them.
void narrow(Draft& draft, const SkillContext& context, const WideDivisions& divisions);

} // namespace kernelskill::skills
