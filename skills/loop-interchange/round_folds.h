/// Decides whether two loops may be exchanged by what their rounds leave to each other.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/counted_loop.h"

namespace kernelskill::skills {

/// The effect on results of exchanging the loops, `inner` directly in `outer`: exact, or sums and
/// products in another order. Refuses with `carried-dependence` if a round needs what another one
/// leaves that the exchange would bring behind it, other than by folding into it; with
/// `unknown-effects`, and with `may-alias` as requireDistinctStores().
[[nodiscard]] Gated<Numerics> exchangedNumerics(const SkillContext& context,
                                                const AdvancingLoop& outer,
                                                const AdvancingLoop& inner);

} // namespace kernelskill::skills
