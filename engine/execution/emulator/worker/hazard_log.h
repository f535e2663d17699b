/// Collects hazards, each kind once for each pair of places.
#pragma once

#include "engine/execution/emulator/wire.h"

#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelskill::engine::emulator {

class HazardLog {
public:
    /// Whether a hazard of this kind and place would be new. Cheap enough to ask before a message
    /// is made.
    [[nodiscard]] bool isNew(HazardKind kind, Site site, Site otherSite) const {
        return hazards_.size() < most && !seen_.contains({kind, site, otherSite});
    }
    void add(HazardReport hazard) {
        if (!isNew(hazard.kind, hazard.site, hazard.otherSite))
            return;
        seen_.insert({hazard.kind, hazard.site, hazard.otherSite});
        hazards_.push_back(std::move(hazard));
    }
    [[nodiscard]] const std::vector<HazardReport>& hazards() const { return hazards_; }

private:
    static constexpr std::size_t most = 64;
    std::set<std::tuple<HazardKind, Site, Site>> seen_;
    std::vector<HazardReport> hazards_;
};

} // namespace kernelskill::engine::emulator
