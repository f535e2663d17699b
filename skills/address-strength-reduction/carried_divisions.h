/// Finds divisions of a loop's index whose results could be carried from round to round.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/counted_loop.h"

#include <cstdint>
#include <expected>
#include <vector>

namespace kernelskill::skills {

/// All of a loop's `i / divisor` and `i % divisor` by one divisor.
struct CarriedDivision {
    analysis::ExprId divisor = analysis::noId;
    std::vector<analysis::ExprId> quotients;
    std::vector<analysis::ExprId> remainders;
    analysis::Type type; ///< The type of the results.
};

struct CarriedLoop {
    CountedLoop counted;
    std::vector<CarriedDivision> divisions; ///< At least one, in the order of the source.
    /// Arithmetic operations and accesses of a round besides these divisions.
    std::size_t otherWork = 0;
};

/// The loop at the cursor, else the first that fits. Refuses with the first gate that does not
/// hold, e.g. `no-loop`, `not-counted-up`, `no-division`, `constant-divisor`,
/// `divisor-may-be-negative`, `index-may-wrap`.
[[nodiscard]] Gated<CarriedLoop> findCarriedLoop(const SkillContext& context,
                                                 const analysis::CodeMap& code);

} // namespace kernelskill::skills
