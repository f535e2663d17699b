/// Whether an edit brought a hazard that was not there.
#pragma once

#include "engine/execution/profile.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Certain hazards of `candidate` beyond those of `original`. An edit moves lines, so hazards are
/// counted by kind and by place: a kind that was there may stay at as many places as before.
[[nodiscard]] std::vector<Hazard> newHazards(const std::vector<Hazard>& original,
                                             const std::vector<Hazard>& candidate);

/// The same of those that are suspicions: no reason to refuse an edit, but what to look at when its
/// results are wrong.
[[nodiscard]] std::vector<Hazard> newSuspicions(const std::vector<Hazard>& original,
                                                const std::vector<Hazard>& candidate);

/// "race on line 12: ..."
[[nodiscard]] std::string describe(const Hazard& hazard);

} // namespace kernelskill::engine
