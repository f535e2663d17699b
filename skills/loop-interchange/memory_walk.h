/// Compares the steps through memory of two loops with those of the loops exchanged.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/counted_loop.h"

#include <string>

namespace kernelskill::skills {

/// An access that the exchanged loops make element by element.
struct ShorterWalk {
    std::string access; ///< As the program writes it.
    std::uint32_t line = 0;
    std::string before; ///< Elements from round to round of the inner loop: "n", "1024".
    std::string after;  ///< The same with the loops exchanged: "1" or "0".
    /// Sectors of 32 bytes that a thread asks for in a round, over all accesses.
    double sectorsBefore = 0;
    double sectorsAfter = 0;
};

/// The first access of `inner`, directly in `outer`, that threads with memory of their own make in
/// long steps, and in steps of at most one element once the loops are exchanged. Refuses with
/// `coalesced` where the lanes of a warp go side by side instead, with `longer-steps` where the
/// exchange would only make steps longer, and with `no-gain`.
[[nodiscard]] Gated<ShorterWalk>
shorterWalk(const SkillContext& context, const AdvancingLoop& outer, const AdvancingLoop& inner);

} // namespace kernelskill::skills
