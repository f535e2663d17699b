/// Writes a kernel whose blocks turn tiles in shared memory.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/shared-memory-transpose/crossed_copy.h"

#include <vector>

namespace kernelskill::skills {

/// Edits of the kernel and its launches. Refuses with `uses-thread-position`, `from-macro`,
/// `place-not-recomputable`, `guard-reads-memory`, `class-type` or `too-much-shared-memory`.
[[nodiscard]] Gated<std::vector<analysis::TextEdit>> transposeEdits(const SkillContext& context,
                                                                    const CrossedCopy& copy);

} // namespace kernelskill::skills
