#include "engine/execution/emulator/worker/warp_trace.h"

#include "engine/execution/emulator/worker/access_cost.h"

#include <algorithm>
#include <bit>

namespace kernelskill::engine::emulator {

namespace {

constexpr Site maxSites = Site{1} << 26; // In larger images, further sites share one entry.
constexpr std::uint32_t widestAccess = 256;

} // namespace

WarpTrace::WarpTrace(TraceRanges ranges) : ranges_(std::move(ranges)) {}

WarpTrace::SiteState& WarpTrace::at(Site site) {
    site = site < maxSites ? site : 0;
    if (site >= slots_.size())
        slots_.resize(site + site / 2 + 1024);
    std::uint32_t& slot = slots_[site];
    if (slot == 0) {
        states_.push_back({.site = site,
                           .counters = {},
                           .successor = 0,
                           .branches = false,
                           .isForeign = false,
                           .touched = {}});
        slot = static_cast<std::uint32_t>(states_.size());
    }
    return states_[slot - 1];
}

void WarpTrace::count(Site site, Counter counter, std::uint64_t amount) {
    at(site).counters[counter] += amount;
}

namespace {

/// Calls `use` with each lane of `mask`.
template <typename Use>
[[gnu::always_inline]] inline void forEachLane(std::uint32_t mask, Use use) {
    if (mask == ~std::uint32_t{0}) {
        for (unsigned lane = 0; lane < warpLanes; ++lane)
            use(lane);
        return;
    }
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
        use(static_cast<unsigned>(std::countr_zero(rest)));
}

} // namespace

std::uint32_t WarpTrace::runTogether(const EventLog& log, Warp& warp, std::uint32_t active,
                                     const std::array<std::uint32_t, warpLanes>& heads) {
    const auto leader = static_cast<unsigned>(std::countr_zero(active));
    std::uint32_t common = EventLog::capacity;
    bool inRows = true;
    std::array<std::uint64_t, warpLanes> isActive{};
    forEachLane(active, [&](unsigned lane) {
        common = std::min(common, log.counts[lane] - heads[lane]);
        inRows &= heads[lane] == heads[leader];
        isActive[lane] = ~std::uint64_t{0};
    });
    if (inRows) {
        const EventRow* row = log.rows.data() + heads[leader];
        for (std::uint32_t done = 0; done < common; ++done, ++row) {
            const std::uint64_t word = row->words[leader];
            std::uint64_t difference = 0;
            for (unsigned lane = 0; lane < warpLanes; ++lane)
                difference |= (row->words[lane] ^ word) & isActive[lane];
            if (difference != 0)
                return done;
            instruction(word, warp, active, row->addresses);
        }
        return common;
    }
    LaneAddresses addresses;
    for (std::uint32_t done = 0; done < common; ++done) {
        const std::uint64_t word = log.rows[heads[leader] + done].words[leader];
        std::uint64_t difference = 0;
        forEachLane(active, [&](unsigned lane) {
            const EventRow& row = log.rows[heads[lane] + done];
            difference |= row.words[lane] ^ word;
            addresses[lane] = row.addresses[lane];
        });
        if (difference != 0)
            return done;
        instruction(word, warp, active, addresses);
    }
    return common;
}

void WarpTrace::drain(EventLog& log, Warp& warp, std::uint32_t unfinished) {
    std::array<std::uint32_t, warpLanes> heads{};
    std::uint32_t active = 0;
    for (unsigned lane = 0; lane < warpLanes; ++lane)
        active |= std::uint32_t{log.counts[lane] != 0} << lane;
    while (active != 0 && (unfinished & ~active) == 0) {
        // Usually all lanes take the same path. As long as they do, no lane can end unnoticed.
        const std::uint32_t done = runTogether(log, warp, active, heads);
        const std::uint32_t together = active;
        forEachLane(together, [&](unsigned lane) {
            heads[lane] += done;
            if (heads[lane] == log.counts[lane])
                active &= ~(1u << lane);
        });
        if (active != together)
            continue;
        // The lanes with the lowest next instruction.
        LaneAddresses addresses;
        std::uint32_t mask = 0;
        std::uint64_t word = ~std::uint64_t{0};
        forEachLane(active, [&](unsigned lane) {
            const EventRow& row = log.rows[heads[lane]];
            const std::uint64_t next = row.words[lane];
            if (next == word) {
                mask |= 1u << lane;
            } else if (static_cast<std::uint32_t>(next) < static_cast<std::uint32_t>(word) ||
                       mask == 0) {
                word = next;
                mask = 1u << lane;
            }
            addresses[lane] = row.addresses[lane];
        });
        forEachLane(mask, [&](unsigned lane) {
            if (++heads[lane] == log.counts[lane])
                active &= ~(1u << lane);
        });
        instruction(word, warp, mask, addresses);
    }
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
        const std::uint32_t left = log.counts[lane] - heads[lane];
        for (std::uint32_t i = 0; i < left && heads[lane] != 0; ++i) {
            log.rows[i].words[lane] = log.rows[heads[lane] + i].words[lane];
            log.rows[i].addresses[lane] = log.rows[heads[lane] + i].addresses[lane];
        }
        log.counts[lane] = left;
    }
}

void WarpTrace::instruction(std::uint64_t word, Warp& warp, std::uint32_t mask,
                            const LaneAddresses& addresses) {
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
    const auto here = static_cast<std::uint32_t>(state.site);
    forEachLane(mask, [&](unsigned lane) {
        warp.branchMask[lane] = mask;
        warp.branchSite[lane] = here;
    });
}

namespace {

unsigned sectorsBetween(std::uint64_t first, std::uint64_t bytes,
                        std::span<std::uint64_t> sectors) {
    const std::uint64_t end = (first + bytes - 1) / sectorBytes + 1;
    unsigned count = 0;
    for (std::uint64_t sector = first / sectorBytes; sector < end; ++sector)
        sectors[count++] = sector;
    return count;
}

} // namespace

void WarpTrace::access(SiteState& state, std::uint64_t word, std::uint32_t mask,
                       const LaneAddresses& addresses) {
    const auto kind = static_cast<EventKind>(word >> 48);
    const std::uint32_t bytes = std::clamp<std::uint32_t>((word >> 32) & 0xffff, 1, widestAccess);
    const std::uint64_t first = addresses[static_cast<unsigned>(std::countr_zero(mask))];
    Counters& counters = state.counters;
    const bool isShared =
        ranges_.staticShared.contains(first) || ranges_.dynamicShared.contains(first);
    if (isShared && kind != EventKind::Atomic && bytes <= 4 && isConflictFree(mask, addresses)) {
        const bool load = kind == EventKind::Load;
        counters[load ? Counter::SharedLoadRequests : Counter::SharedStoreRequests] += 1;
        counters[load ? Counter::SharedLoadWavefronts : Counter::SharedStoreWavefronts] += 1;
        return;
    }
    const bool isOneRange = mask == ~std::uint32_t{0} && isConsecutive(addresses, bytes);
    const auto laneCount = static_cast<unsigned>(std::popcount(mask));
    std::array<LaneAddress, warpLanes> storage;
    const std::span<const LaneAddress> lanes{storage.data(), laneCount};
    if (isShared || kind == EventKind::Atomic || !isOneRange) {
        unsigned next = 0;
        forEachLane(mask, [&](unsigned lane) {
            storage[next++] = {static_cast<std::uint8_t>(lane), addresses[lane]};
        });
    }
    if (isShared) {
        if (kind == EventKind::Atomic) {
            counters[Counter::SharedAtomicRequests] += 1;
            counters[Counter::AtomicLanes] += laneCount;
            counters[Counter::AtomicSerializations] += maxLanesOnOneAddress(lanes);
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
    const unsigned sectorCount = isOneRange ? sectorsBetween(first, warpLanes * bytes, sectors)
                                            : distinctSectors(lanes, bytes, sectors);
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
        counters[Counter::AtomicSerializations] += maxLanesOnOneAddress(lanes);
        break;
    }
    if (!ranges_.buffers.contains(first))
        return;
    TouchedSectors& touched = kind == EventKind::Load ? loaded_ : stored_;
    const Counter unique =
        kind == EventKind::Load ? Counter::UniqueBytesLoaded : Counter::UniqueBytesStored;
    for (unsigned i = 0; i < sectorCount; ++i) {
        if (!touched.add(sectors[i]))
            continue;
        counters[unique] += sectorBytes;
        if (notesFirstTouches_)
            noteFirstTouch(state, kind != EventKind::Load,
                           sectors[i] - ranges_.buffers.low / sectorBytes);
    }
}

void WarpTrace::noteFirstTouch(SiteState& state, bool stored, std::uint64_t sector) {
    Interval& last = state.touched.sectors;
    if (last.end == sector && last.first != last.end) {
        ++last.end;
        return;
    }
    if (last.first != last.end)
        firstTouches_.push_back(state.touched);
    state.touched = {state.site, stored, {sector, sector + 1}};
}

std::vector<PartFindings::FirstTouch> WarpTrace::firstTouches() const {
    std::vector<PartFindings::FirstTouch> touches = firstTouches_;
    for (const SiteState& state : states_) {
        if (state.touched.sectors.first != state.touched.sectors.end)
            touches.push_back(state.touched);
    }
    return touches;
}

std::vector<PartFindings::Branch> WarpTrace::branches() const {
    std::vector<PartFindings::Branch> branches;
    for (const SiteState& state : states_) {
        if (state.counters[Counter::BranchTargets] != 0)
            branches.push_back({state.site, state.successor, state.branches, state.isForeign});
    }
    return branches;
}

std::map<Site, Counters> WarpTrace::allSites() const {
    std::map<Site, Counters> result;
    for (const SiteState& state : states_)
        result[state.site] += state.counters;
    return result;
}

std::map<Site, Counters> WarpTrace::sites() const {
    std::map<Site, Counters> result;
    for (const SiteState& state : states_) {
        Counters counters = state.counters;
        if (!state.branches || state.isForeign)
            dropBranchTargets(counters);
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
