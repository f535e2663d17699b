/// Computes the cost of one warp-level access for the memory system, by NVIDIA's rules.
#pragma once

#include "engine/execution/emulator/worker/event_log.h"

#include <array>
#include <cstdint>
#include <span>

namespace kernelskill::engine::emulator {

struct LaneAddress {
    std::uint8_t lane = 0;
    std::uint64_t address = 0;
};

inline constexpr std::uint64_t sectorBytes = 32;

/// Finds the distinct 32-byte sectors that the lanes' accesses of `bytes` bytes touch, in order,
/// and writes them to `sectors` (at least 32 * (bytes / 32 + 2) long). Returns their number.
unsigned distinctSectors(std::span<const LaneAddress> lanes, std::uint32_t bytes,
                         std::span<std::uint64_t> sectors);

struct SharedCost {
    unsigned wavefronts = 0;
    unsigned conflicts = 0; ///< Wavefronts beyond one per phase.
};

/// Shared memory has 32 banks of 4 bytes. Accesses of 8 bytes run in two phases of half a warp
/// each, those of 16 bytes in four. In a phase each bank serves one 4-byte word, to any number of
/// lanes.
SharedCost sharedCost(std::span<const LaneAddress> lanes, std::uint32_t bytes);

/// Whether no bank has to serve two words for the lanes in `mask`, each of which accesses one word.
bool isConflictFree(std::uint32_t mask, const LaneAddresses& addresses);

/// Whether each lane's `bytes` bytes follow those of the previous lane, in the whole warp.
bool isConsecutive(const LaneAddresses& addresses, std::uint32_t bytes);

/// The maximum number of lanes with the same address: how often an atomic must be repeated.
unsigned maxLanesOnOneAddress(std::span<const LaneAddress> lanes);

} // namespace kernelskill::engine::emulator
