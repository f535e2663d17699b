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

/// Races and suspected races of `candidate` that `original` does not have on the same input. They
/// are compared by the object, the kinds of the two accesses and the distance of their threads,
/// because an edit moves lines. Without `countsPlaces`, plain reads and writes are one kind. With
/// it, a race that the original has may not be at more pairs of places either.
[[nodiscard]] std::vector<Hazard> newConflicts(const Profile& original, const Profile& candidate,
                                               bool countsPlaces);

/// Whether this profile has an access out of bounds, excused or not, to the same object on the same
/// side: in front of its first element, or behind its last one.
[[nodiscard]] bool leavesAlike(const Profile& profile, const Hazard& outOfBounds);

/// Excused accesses out of bounds of `candidate` that `original`, on the same input, does not
/// share, see leavesAlike(): made-up indices are then not their cause.
[[nodiscard]] std::vector<Hazard> newlyOutOfBounds(const Profile& original,
                                                   const Profile& candidate);

/// Suspected divergence at barriers where `original` has none, not even a suspected one: threads
/// that wait at different barriers of a block, or that have ended without one.
[[nodiscard]] std::vector<Hazard> newMissedBarriers(const std::vector<Hazard>& original,
                                                    const std::vector<Hazard>& candidate);

/// "race on line 12: ..."
[[nodiscard]] std::string describe(const Hazard& hazard);

} // namespace kernelskill::engine
