/// The variables of a contraction: which an output has for itself, and from where to where.
#pragma once

#include "skills/schedule/contraction.h"

namespace kernelskill::skills {

/// Fills in `roles` and `dependsOn` of a contraction whose loops, parts and kept elements are
/// known. Refuses as contraction() says where outputs cannot be computed side by side.
[[nodiscard]] Gated<void> findRoles(const SkillContext& context, const AxisDependence& dependence,
                                    Contraction& found);

} // namespace kernelskill::skills
