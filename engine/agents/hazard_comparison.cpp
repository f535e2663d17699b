#include "engine/agents/hazard_comparison.h"

#include <spdlog/fmt/fmt.h>

#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using Place = std::pair<std::string, std::uint32_t>;

std::map<HazardKind, std::set<Place>> placesByKind(const std::vector<Hazard>& hazards) {
    std::map<HazardKind, std::set<Place>> places;
    for (const Hazard& hazard : hazards) {
        if (hazard.certain)
            places[hazard.kind].insert({hazard.file, hazard.line});
    }
    return places;
}

} // namespace

std::vector<Hazard> newHazards(const std::vector<Hazard>& original,
                               const std::vector<Hazard>& candidate) {
    auto before = placesByKind(original);
    auto after = placesByKind(candidate);
    std::vector<Hazard> found;
    for (const Hazard& hazard : candidate) {
        if (hazard.certain && after[hazard.kind].size() > before[hazard.kind].size())
            found.push_back(hazard);
    }
    return found;
}

std::string describe(const Hazard& hazard) {
    return fmt::format("{} on line {}: {}", spelling(hazard.kind), hazard.line + 1, hazard.message);
}

} // namespace kernelskill::engine
