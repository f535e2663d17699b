/// The emulator's counters, per access site and for a whole launch. They are plain sums: sites add
/// up to lines, and lines to launches. profile_metrics.cpp gives their public names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernelskill::engine::emulator {

enum class Counter : std::uint8_t {
    WarpEvents,   ///< Warp-level accesses and basic blocks.
    ThreadEvents, ///< The same, once for each active lane.
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
    AtomicSerializations, ///< The maximum number of lanes of a request on one address, summed.
    SharedLoadRequests,
    SharedLoadWavefronts,
    SharedLoadConflicts, ///< Wavefronts beyond those that the width of the access needs.
    SharedStoreRequests,
    SharedStoreWavefronts,
    SharedStoreConflicts,
    BranchTargets,
    BranchTargetsDivergent,
    Barriers,          ///< Barriers of a block, once for each block that passed.
    WarpOperations,    ///< Shuffles, votes and warp barriers, once for each group of lanes.
    UniqueBytesLoaded, ///< Bytes of buffers, in whole sectors.
    UniqueBytesStored,
    // Arithmetic, once for each lane. An image's table counts from the first of these.
    SingleAdds,
    SingleMultiplies,
    SingleFused,
    DoubleAdds,
    DoubleMultiplies,
    DoubleFused,
    HalfAdds, ///< Instructions, on pairs or on single values.
    HalfMultiplies,
    HalfFused,
    HalfOperations, ///< The same in operations: a fused instruction on a pair counts as four.
    Conversions,
    /// Calls of mathematical functions whose arithmetic is counted in none of these.
    UncountedCalls,
    Count
};

inline constexpr std::size_t counterCount = static_cast<std::size_t>(Counter::Count);
inline constexpr Counter firstArithmetic = Counter::SingleAdds;

/// An image exports these as `ks_arithmetic`: the operations of a lane in a basic block. The order
/// is that of Counter, so assemblyEdition changes with Counter.
struct ArithmeticEntry {
    /// The return address of the block's hook, relative to the table's address.
    std::int32_t block = 0;
    std::int32_t instruction = 0; ///< Relative to the table's address.
    std::uint32_t counter = 0;    ///< Relative to firstArithmetic.
    std::uint32_t count = 0;
};
struct ArithmeticTable {
    std::uint32_t version = 0;
    std::uint32_t entryCount = 0; ///< Entries follow.
};
inline constexpr std::uint32_t arithmeticVersion = 1;

/// An image with watched conditions exports this as `ks_conditions`. It is followed by
/// `outcomeCount` numbers of outcomes, each of 4 bytes, and then by one byte for each possible
/// number, which is 1 after the outcome. A condition's outcomes have twice its index, if true, and
/// the next number.
struct ConditionTable {
    std::uint32_t version = 0;
    std::uint32_t outcomeCount = 0;
};
inline constexpr std::uint32_t conditionVersion = 1;
/// AArch64 can add a smaller number to an address in the instruction that stores a byte.
inline constexpr std::uint32_t maxOutcomes = 4096;

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
