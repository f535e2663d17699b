/// Finds hazards that an edit added.
#pragma once

#include "engine/execution/profile.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Certain hazards of `candidate` beyond those of `original`. An edit moves lines, so hazards are
/// counted by kind and place: a kind may stay at as many places as before.
[[nodiscard]] std::vector<Hazard> newHazards(const std::vector<Hazard>& original,
                                             const std::vector<Hazard>& candidate);

/// The new suspicions in the same way. They do not refuse an edit, but help to explain wrong
/// results.
[[nodiscard]] std::vector<Hazard> newSuspicions(const std::vector<Hazard>& original,
                                                const std::vector<Hazard>& candidate);

/// "race on line 12: ..."
[[nodiscard]] std::string describe(const Hazard& hazard);

} // namespace kernelskill::engine
