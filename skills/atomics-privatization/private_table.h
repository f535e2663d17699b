/// How large a block's own table for contended updates has to be, and whether it is worth it.
#pragma once

#include "skills/atomics-privatization/contended_updates.h"
#include "skills/rewriting/code_map.h"
#include "skills/skill.h"

#include <expected>

namespace kernelskill::skills {

/// The table that holds every element which `updates` can reach. Refuses with `table-not-a-sum`,
/// `lanes-apart`, `index-may-be-negative`, `unknown-table-size`, `shared-memory-taken`,
/// `table-too-large` or `table-larger-than-work`.
[[nodiscard]] std::expected<PrivateTable, Refusal>
findPrivateTable(const SkillContext& context, const CodeMap& code, const ContendedUpdates& updates);

} // namespace kernelskill::skills
