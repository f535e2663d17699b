/// Collects hazards, one for each kind and pair of places; of accesses out of bounds one on each
/// side of the object.
#pragma once

#include "engine/execution/emulator/wire/wire.h"

#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelskill::engine::emulator {

class HazardLog {
public:
    /// Whether a hazard of this kind and place is new: the first one, or a certain one after a
    /// suspicion. Cheap enough to call before a message is made.
    [[nodiscard]] bool isNew(HazardKind kind, Site site, Site otherSite, bool certain = false,
                             bool isInFront = false) const {
        const auto known = seen_.find({kind, site, otherSite, isInFront});
        return known == seen_.end() ? hazards_.size() < most
                                    : certain && !hazards_[known->second].certain;
    }
    void add(HazardReport hazard) {
        const bool isInFront = hazard.details.isInFront();
        if (!isNew(hazard.kind, hazard.site, hazard.otherSite, hazard.certain, isInFront))
            return;
        const auto [known, first] = seen_.try_emplace(
            {hazard.kind, hazard.site, hazard.otherSite, isInFront}, hazards_.size());
        if (first)
            hazards_.push_back(std::move(hazard));
        else
            hazards_[known->second] = std::move(hazard);
    }
    /// Whether no further hazard is accepted.
    [[nodiscard]] bool isFull() const { return hazards_.size() == most; }
    [[nodiscard]] const std::vector<HazardReport>& hazards() const { return hazards_; }

private:
    static constexpr std::size_t most = 64;
    std::map<std::tuple<HazardKind, Site, Site, bool>, std::size_t>
        seen_; ///< Indices into hazards_.
    std::vector<HazardReport> hazards_;
};

} // namespace kernelskill::engine::emulator
