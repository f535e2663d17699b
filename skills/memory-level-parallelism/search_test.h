/// Recognises loops that look for the first round in which a condition holds.
#pragma once

#include "skills/memory-level-parallelism/batched_loads.h"

#include <optional>

namespace kernelskill::skills {

/// The test of a round, if `batched` with its head and loads is such a loop: a round declares
/// locals and tests one condition, and ends the loop where it holds. The test changes nothing, its
/// loads are at places that the index alone decides, and it may be made for rounds that the loop
/// would not have come to, up to its limit.
[[nodiscard]] std::optional<SearchTest> readSearchTest(const SkillContext& context,
                                                       const analysis::CodeMap& code,
                                                       const BatchedLoop& batched);

/// As many rounds are tested at once, by the elements that each of them loads.
[[nodiscard]] int roundsOfSearch(const BatchedLoop& batched);

} // namespace kernelskill::skills
