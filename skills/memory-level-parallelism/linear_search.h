/// Recognises loops that look for the first round in which a condition holds.
#pragma once

#include "skills/memory-level-parallelism/batched_loads.h"

#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// The loop with head, loads, test and rounds, if it is a search: a round declares locals, tests
/// one condition and ends the loop where it holds, or the loop's head has the condition behind the
/// bound. The test changes nothing, its loads are at places that the index alone decides, and it
/// may be made for rounds that the loop would not have come to, up to its limit. nullopt also for
/// loops that are known to have too few rounds.
[[nodiscard]] std::optional<BatchedLoop>
readSearch(const SkillContext& context, const analysis::CodeMap& code, std::uint32_t loop);

} // namespace kernelskill::skills
