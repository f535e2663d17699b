#include "engine/comparison/hazard_comparison.h"

#include <spdlog/fmt/fmt.h>

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

} // namespace

std::vector<Hazard> newHazards(const std::vector<Hazard>& original,
                               const std::vector<Hazard>& candidate) {
    return beyond(original, candidate, true);
}

std::vector<Hazard> newSuspicions(const std::vector<Hazard>& original,
                                  const std::vector<Hazard>& candidate) {
    return beyond(original, candidate, false);
}

std::string describe(const Hazard& hazard) {
    return fmt::format("{} on line {}: {}", spelling(hazard.kind), hazard.line + 1, hazard.message);
}

} // namespace kernelskill::engine
