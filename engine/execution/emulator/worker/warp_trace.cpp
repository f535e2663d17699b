#include "engine/execution/emulator/worker/warp_trace.h"

#include "engine/execution/emulator/worker/access_cost.h"

#include <algorithm>
#include <bit>

namespace kernelskill::engine::emulator {

namespace {

constexpr Site mostSites = Site{1} << 26; // Larger images fall together in one site.
constexpr std::uint32_t widestAccess = 256;

} // namespace

WarpTrace::WarpTrace(TraceRanges ranges) : ranges_(std::move(ranges)) {}

WarpTrace::SiteState& WarpTrace::at(Site site) {
    site = site < mostSites ? site : 0;
    if (site >= slots_.size())
        slots_.resize(site + site / 2 + 1024);
    std::uint32_t& slot = slots_[site];
    if (slot == 0) {
        states_.push_back(
            {.site = site, .counters = {}, .successor = 0, .branches = false, .isForeign = false});
        slot = static_cast<std::uint32_t>(states_.size());
    }
    return states_[slot - 1];
}

void WarpTrace::count(Site site, Counter counter, std::uint64_t amount) {
    at(site).counters[counter] += amount;
}

void WarpTrace::drain(EventLog& log, Warp& warp, std::uint32_t unfinished) {
    std::array<std::uint32_t, warpLanes> heads{};
    std::array<std::uint64_t, warpLanes> addresses;
    std::uint32_t active = 0;
    for (unsigned lane = 0; lane < warpLanes; ++lane)
        active |= std::uint32_t{log.counts[lane] != 0} << lane;
    bool starved = (unfinished & ~active) != 0;
    while (active != 0 && !starved) {
        // The lanes whose next instruction lies lowest.
        std::uint32_t mask = 0;
        std::uint64_t word = ~std::uint64_t{0};
        for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            const Event& event = log.events[lane][heads[lane]];
            if (event.word == word) {
                mask |= 1u << lane;
            } else if (event.site() < static_cast<std::uint32_t>(word) || mask == 0) {
                word = event.word;
                mask = 1u << lane;
            }
            addresses[lane] = event.address;
        }
        for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            if (++heads[lane] == log.counts[lane])
                active &= ~(1u << lane);
        }
        starved = (unfinished & ~active) != 0;
        const auto site = static_cast<std::uint32_t>(word);
        SiteState& state = at(site);
        state.counters[Counter::WarpEvents] += 1;
        state.counters[Counter::ThreadEvents] += static_cast<unsigned>(std::popcount(mask));
        const auto kind = static_cast<EventKind>(word >> 48);
        if (kind >= EventKind::BasicBlock) {
            state.isForeign = kind == EventKind::ForeignBlock;
            basicBlock(state, warp, mask, site);
        } else {
            access(state, word, mask, addresses);
        }
    }
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
        auto& events = log.events[lane];
        std::copy(events.begin() + heads[lane], events.begin() + log.counts[lane], events.begin());
        log.counts[lane] -= heads[lane];
    }
}

void WarpTrace::basicBlock(SiteState& state, Warp& warp, std::uint32_t mask, std::uint32_t site) {
    for (std::uint32_t rest = mask; rest != 0;) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint32_t before = warp.branchMask[lane];
        if (before == 0) {
            rest &= rest - 1;
            continue;
        }
        SiteState& source = at(warp.branchSite[lane]);
        if (source.successor == 0)
            source.successor = site;
        else if (source.successor != site)
            source.branches = true;
        source.counters[Counter::BranchTargets] += 1;
        if ((before & mask) != before) {
            source.counters[Counter::BranchTargetsDivergent] += 1;
            source.branches = true;
        }
        rest &= ~before;
    }
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        warp.branchMask[lane] = mask;
        warp.branchSite[lane] = static_cast<std::uint32_t>(state.site);
    }
}

void WarpTrace::access(SiteState& state, std::uint64_t word, std::uint32_t mask,
                       const std::array<std::uint64_t, warpLanes>& addresses) {
    std::array<LaneAddress, warpLanes> storage;
    unsigned laneCount = 0;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        storage[laneCount++] = {static_cast<std::uint8_t>(lane), addresses[lane]};
    }
    const std::span<const LaneAddress> lanes{storage.data(), laneCount};
    const auto kind = static_cast<EventKind>(word >> 48);
    const std::uint32_t bytes = std::clamp<std::uint32_t>((word >> 32) & 0xffff, 1, widestAccess);
    const std::uint64_t first = lanes[0].address;
    Counters& counters = state.counters;

    if (ranges_.staticShared.contains(first) || ranges_.dynamicShared.contains(first)) {
        if (kind == EventKind::Atomic) {
            counters[Counter::SharedAtomicRequests] += 1;
            counters[Counter::AtomicLanes] += laneCount;
            counters[Counter::AtomicSerializations] += mostOnOneAddress(lanes);
            return;
        }
        const SharedCost cost = sharedCost(lanes, bytes);
        const bool load = kind == EventKind::Load;
        counters[load ? Counter::SharedLoadRequests : Counter::SharedStoreRequests] += 1;
        counters[load ? Counter::SharedLoadWavefronts : Counter::SharedStoreWavefronts] +=
            cost.wavefronts;
        counters[load ? Counter::SharedLoadConflicts : Counter::SharedStoreConflicts] +=
            cost.conflicts;
        return;
    }
    for (const AddressRange& range : ranges_.uncounted) {
        if (range.contains(first))
            return;
    }
    std::array<std::uint64_t, warpLanes*(widestAccess / sectorBytes + 2)> sectors;
    const unsigned sectorCount = distinctSectors(lanes, bytes, sectors);
    switch (kind) {
    case EventKind::Load:
        counters[Counter::GlobalLoadRequests] += 1;
        counters[Counter::GlobalLoadSectors] += sectorCount;
        counters[Counter::GlobalLoadBytes] += std::uint64_t{bytes} * laneCount;
        break;
    case EventKind::Store:
        counters[Counter::GlobalStoreRequests] += 1;
        counters[Counter::GlobalStoreSectors] += sectorCount;
        counters[Counter::GlobalStoreBytes] += std::uint64_t{bytes} * laneCount;
        break;
    default:
        counters[Counter::GlobalAtomicRequests] += 1;
        counters[Counter::GlobalAtomicSectors] += sectorCount;
        counters[Counter::AtomicLanes] += laneCount;
        counters[Counter::AtomicSerializations] += mostOnOneAddress(lanes);
        break;
    }
    if (!ranges_.buffers.contains(first))
        return;
    TouchedSectors& touched = kind == EventKind::Load ? loaded_ : stored_;
    const Counter unique =
        kind == EventKind::Load ? Counter::UniqueBytesLoaded : Counter::UniqueBytesStored;
    for (unsigned i = 0; i < sectorCount; ++i)
        counters[unique] += touched.add(sectors[i]) ? sectorBytes : 0;
}

std::map<Site, Counters> WarpTrace::sites() const {
    std::map<Site, Counters> result;
    for (const SiteState& state : states_) {
        Counters counters = state.counters;
        if (!state.branches || state.isForeign) {
            // A block that always goes on the same way ends in no branch worth the name; others
            // end in one that the user did not write.
            counters[Counter::BranchTargets] = 0;
            counters[Counter::BranchTargetsDivergent] = 0;
        }
        result[state.site] += counters;
    }
    return result;
}

Counters WarpTrace::totals() const {
    Counters sum;
    for (const auto& [site, counters] : sites())
        sum += counters;
    return sum;
}

} // namespace kernelskill::engine::emulator
