/// What the emulator counts, per access site and for a whole launch: plain sums, so that sites add
/// up to lines and lines to launches. Names under which they are shown are in profile_metrics.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernelskill::engine::emulator {

enum class Counter : std::uint8_t {
    WarpEvents,   ///< Warp-level accesses and basic blocks.
    ThreadEvents, ///< The same, one for each lane that took part.
    GlobalLoadRequests,
    GlobalLoadSectors,
    GlobalLoadBytes,
    GlobalStoreRequests,
    GlobalStoreSectors,
    GlobalStoreBytes,
    GlobalAtomicRequests,
    GlobalAtomicSectors,
    SharedAtomicRequests,
    AtomicLanes,
    AtomicSerializations, ///< Most lanes on one address of a request, summed.
    SharedLoadRequests,
    SharedLoadWavefronts,
    SharedLoadConflicts, ///< Wavefronts beyond what the width of the access needs.
    SharedStoreRequests,
    SharedStoreWavefronts,
    SharedStoreConflicts,
    BranchTargets,
    BranchTargetsDivergent,
    Barriers,          ///< Block-wide, one for each block that passed.
    WarpOperations,    ///< Shuffles, votes and warp barriers, one for each group of lanes.
    UniqueBytesLoaded, ///< Of buffers, in whole sectors.
    UniqueBytesStored,
    Count
};

inline constexpr std::size_t counterCount = static_cast<std::size_t>(Counter::Count);

struct Counters {
    std::array<std::uint64_t, counterCount> values{};

    std::uint64_t& operator[](Counter counter) { return values[static_cast<std::size_t>(counter)]; }
    std::uint64_t operator[](Counter counter) const {
        return values[static_cast<std::size_t>(counter)];
    }
    Counters& operator+=(const Counters& other) {
        for (std::size_t i = 0; i < counterCount; ++i)
            values[i] += other.values[i];
        return *this;
    }
    bool operator==(const Counters&) const = default;
};

} // namespace kernelskill::engine::emulator
