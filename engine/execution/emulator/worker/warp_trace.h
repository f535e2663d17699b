/// Merges the lanes' logs into the instructions of the warp, and counts them.
///
/// Lanes with the same next instruction run it together. If they differ, those at the lowest
/// address go first. Compilers place code in order, so this waits for lanes in a branch or in a
/// further loop iteration, and reconverges where a GPU does.
#pragma once

#include "engine/execution/emulator/wire/counters.h"
#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker/access_cost.h"
#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/emulator/worker/cuda_block.h"
#include "engine/execution/emulator/worker/event_log.h"
#include "engine/execution/emulator/worker/touched_sectors.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace kernelskill::engine::emulator {

/// Address ranges, as far as counting needs them.
struct TraceRanges {
    AddressRange staticShared;
    AddressRange dynamicShared;
    AddressRange buffers;
    /// __constant__ variables, which the load-store pipe does not read.
    std::vector<AddressRange> uncounted;
};

class WarpTrace {
public:
    explicit WarpTrace(TraceRanges ranges);

    /// Consumes the log. The lanes in `unfinished` will log more before they wait for others. When
    /// one of them has no entry left, the rest of the log stays for the next call.
    void drain(EventLog& log, Warp& warp, std::uint32_t unfinished);

    /// Blocks that are alive together have separate dynamic shared memory.
    void setDynamicShared(AddressRange range) { ranges_.dynamicShared = range; }

    void count(Site site, Counter counter, std::uint64_t amount = 1);

    [[nodiscard]] std::map<Site, Counters> sites() const;
    /// The same, including branch targets that may turn out to be none.
    [[nodiscard]] std::map<Site, Counters> allSites() const;
    [[nodiscard]] std::vector<PartFindings::Branch> branches() const;
    /// Enables firstTouches() from here on.
    void noteFirstTouches() { notesFirstTouches_ = true; }
    [[nodiscard]] std::vector<PartFindings::FirstTouch> firstTouches() const;
    [[nodiscard]] Counters totals() const;

private:
    struct SiteState {
        Site site = 0;
        Counters counters;
        std::uint32_t successor = 0;
        bool branches = false; ///< It was seen to have more than one target.
        bool isForeign = false;
        PartFindings::FirstTouch touched; ///< The last one of its site.
    };

    void noteFirstTouch(SiteState& state, bool stored, std::uint64_t sector);
    /// Runs the instructions that the lanes in `active` have in common from their `heads` on.
    /// Returns their number.
    std::uint32_t runTogether(const EventLog& log, Warp& warp, std::uint32_t active,
                              const std::array<std::uint32_t, warpLanes>& heads);
    SiteState& at(Site site);
    void basicBlock(SiteState& state, Warp& warp, std::uint32_t mask, std::uint32_t site);
    void access(SiteState& state, std::uint64_t word, std::uint32_t mask,
                const LaneAddresses& addresses);
    /// Processes one instruction of the lanes in `mask`.
    void instruction(std::uint64_t word, Warp& warp, std::uint32_t mask,
                     const LaneAddresses& addresses);

    TraceRanges ranges_;
    TouchedSectors loaded_;
    TouchedSectors stored_;
    std::vector<std::uint32_t> slots_; ///< By site: 1 + index into states_.
    std::vector<SiteState> states_;
    bool notesFirstTouches_ = false;
    std::vector<PartFindings::FirstTouch> firstTouches_; ///< Without the last one of each site.
};

} // namespace kernelskill::engine::emulator
