#include "engine/comparison/hazard_comparison.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using Place = std::pair<std::string, std::uint32_t>;

std::map<HazardKind, std::set<Place>> placesByKind(const std::vector<Hazard>& hazards,
                                                   bool areCertain) {
    std::map<HazardKind, std::set<Place>> places;
    for (const Hazard& hazard : hazards) {
        if (hazard.certain == areCertain)
            places[hazard.kind].insert({hazard.file, hazard.line});
    }
    return places;
}

std::vector<Hazard> beyond(const std::vector<Hazard>& original,
                           const std::vector<Hazard>& candidate, bool areCertain) {
    auto before = placesByKind(original, areCertain);
    auto after = placesByKind(candidate, areCertain);
    std::vector<Hazard> found;
    for (const Hazard& hazard : candidate) {
        if (hazard.certain == areCertain && after[hazard.kind].size() > before[hazard.kind].size())
            found.push_back(hazard);
    }
    return found;
}

/// Whether the launch made up what decides which elements of this buffer threads meet in. Then
/// which threads meet there is chance, in both versions.
bool isMadeUp(const Profile& profile, const Hazard& hazard) {
    if (profile.launch.origin == LaunchOrigin::Guessed)
        return std::ranges::any_of(profile.launch.arguments, [&](const ArgumentSpec& argument) {
            const auto* buffer = std::get_if<BufferSpec>(&argument);
            return buffer != nullptr && buffer->name == hazard.details.object;
        });
    return hazard.details.doubt == RaceDoubt::GuessedIndices;
}

/// Whether a read or a write comes first in a race of plain accesses is chance.
bool isPlain(const Hazard& race) {
    return race.details.pair == RacePair::ReadWrite || race.details.pair == RacePair::WriteWrite;
}

} // namespace

std::vector<Hazard> newConflicts(const Profile& original, const Profile& candidate,
                                 bool countsPlaces) {
    std::vector<Hazard> found;
    for (const Hazard& race : candidate.hazards) {
        if (race.kind != HazardKind::Race)
            continue;
        const bool isChance = isMadeUp(original, race) || isMadeUp(candidate, race);
        const auto isAlike = [&](const Hazard& other) {
            return other.kind == HazardKind::Race && other.details.object == race.details.object &&
                   (other.details.pair == race.details.pair ||
                    (!countsPlaces && isPlain(other) && isPlain(race))) &&
                   (isChance || other.details.scope >= race.details.scope);
        };
        const auto before = std::ranges::count_if(original.hazards, isAlike);
        const auto after = std::ranges::count_if(candidate.hazards, isAlike);
        if (before == 0 || (countsPlaces && after > before))
            found.push_back(race);
    }
    return found;
}

bool leavesAlike(const Profile& profile, const Hazard& outOfBounds) {
    const auto isAlike = [&](const Hazard& other) {
        return other.kind == HazardKind::OutOfBounds &&
               other.details.object == outOfBounds.details.object &&
               other.details.isInFront() == outOfBounds.details.isInFront();
    };
    return std::ranges::any_of(profile.hazards, isAlike) ||
           std::ranges::any_of(profile.excused, isAlike);
}

std::vector<Hazard> newlyOutOfBounds(const Profile& original, const Profile& candidate) {
    std::vector<Hazard> found;
    std::ranges::copy_if(candidate.excused, std::back_inserter(found),
                         [&](const Hazard& hazard) { return !leavesAlike(original, hazard); });
    return found;
}

std::vector<Hazard> newHazards(const std::vector<Hazard>& original,
                               const std::vector<Hazard>& candidate) {
    return beyond(original, candidate, true);
}

std::vector<Hazard> newSuspicions(const std::vector<Hazard>& original,
                                  const std::vector<Hazard>& candidate) {
    return beyond(original, candidate, false);
}

std::vector<Hazard> newMissedBarriers(const std::vector<Hazard>& original,
                                      const std::vector<Hazard>& candidate) {
    std::vector<Hazard> found;
    if (std::ranges::find(original, HazardKind::BarrierDivergence, &Hazard::kind) == original.end())
        std::ranges::copy_if(candidate, std::back_inserter(found), [](const Hazard& hazard) {
            return hazard.kind == HazardKind::BarrierDivergence;
        });
    return found;
}

std::string describe(const Hazard& hazard) {
    return fmt::format("{} on line {}: {}", spelling(hazard.kind), hazard.line + 1, hazard.message);
}

} // namespace kernelskill::engine
