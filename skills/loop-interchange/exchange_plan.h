/// Two loops of each thread, one directly in the other, that may change places.
#pragma once

#include "skills/gates/counted_loop.h"
#include "skills/loop-interchange/memory_walk.h"

namespace kernelskill::skills {

struct ExchangePlan {
    AdvancingLoop outer;
    AdvancingLoop inner;
    analysis::Span outerHead; ///< Between the brackets behind `for`.
    analysis::Span innerHead;
    Numerics numerics = Numerics::Exact;
    Gated<ShorterWalk> walk; ///< What is won, or why nothing is.
};

/// Finds the loops at the cursor, else the first that fit, those first that win something. Refuses
/// with `no-inner-loop`, `imperfect-nest`, `bounds-depend`, `hidden-name`, `divides`, `pragma`,
/// `directive`, `shared-rounds`, `not-counted-up`, and what readAdvancingLoop(), requireOwnLines(),
/// requireOrderFree() and exchangedNumerics() refuse with.
[[nodiscard]] Gated<ExchangePlan> exchangePlan(const SkillContext& context);
/// Finds the plan of the outer loop that has the span.
[[nodiscard]] Gated<ExchangePlan> exchangePlanOf(const SkillContext& context, analysis::Span outer);

} // namespace kernelskill::skills
