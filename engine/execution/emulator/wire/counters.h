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
    // Arithmetic, one for each lane; an image's table counts from the first of these on.
    SingleAdds,
    SingleMultiplies,
    SingleFused,
    DoubleAdds,
    DoubleMultiplies,
    DoubleFused,
    HalfAdds, ///< Instructions; of pairs or of single values.
    HalfMultiplies,
    HalfFused,
    HalfOperations, ///< The same in operations: a fused one of a pair is four.
    Conversions,
    UncountedCalls, ///< Of mathematical functions whose arithmetic is in none of these.
    Count
};

inline constexpr std::size_t counterCount = static_cast<std::size_t>(Counter::Count);
inline constexpr Counter firstArithmetic = Counter::SingleAdds;

/// What an image exports as `ks_arithmetic`: how often a lane that runs a basic block does what.
/// Its order is that of Counter, so that assemblyEdition changes with it.
struct ArithmeticEntry {
    std::int32_t block = 0; ///< Behind the call of the block's hook, from the table's address.
    std::int32_t instruction = 0; ///< From the table's address.
    std::uint32_t counter = 0;    ///< From firstArithmetic.
    std::uint32_t count = 0;
};
struct ArithmeticTable {
    std::uint32_t version = 0;
    std::uint32_t entryCount = 0; ///< Entries follow.
};
inline constexpr std::uint32_t arithmeticVersion = 1;

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
