/// Loops that move pointers or indices on, written as loops that count their rounds.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that keep what the kernel does and leave its loops in one form: `while (p < end) {
/// … *p …; ++p; }` becomes `for (int i = 0; i < n; ++i) { … p[i] … }`, a loop that counts
/// downwards counts upwards, and `++i, p += n` becomes `++i`, with `p[i * n]` in the place of `*p`.
/// Edits of two loops may touch: then only the first loop is rewritten, and a call on the result
/// rewrites the next one. Returns nothing if each loop has that form already or is not understood.
[[nodiscard]] std::vector<analysis::TextEdit> countedRounds(const SkillContext& context);

} // namespace kernelskill::skills
