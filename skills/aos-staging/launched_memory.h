/// Shared memory whose size launches state, for blocks whose size the text does not tell.
#pragma once

#include "skills/aos-staging/record_arrays.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Requires that every launch can state the shared memory that the array's records take. Refuses
/// with `unknown-block` where one cannot, with `too-much-shared-memory` where the largest block
/// would take more than a launch may, and with what the gates of launches refuse with.
[[nodiscard]] Gated<void> requireStatedMemory(const SkillContext& context,
                                              const RecordArray& array);

/// Returns the edits of launches that state `pitch` words of the type for each thread. Needs
/// requireStatedMemory().
[[nodiscard]] std::vector<analysis::TextEdit>
statedMemory(const SkillContext& context, std::int64_t pitch, const std::string& wordType);

} // namespace kernelskill::skills
