/// What one warp-level access costs the memory system, by NVIDIA's rules.
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

/// Distinct 32-byte sectors that the lanes' accesses of `bytes` bytes touch, in the order met,
/// written to `sectors` (at least 32 * (bytes / 32 + 2) long). Returns how many.
unsigned distinctSectors(std::span<const LaneAddress> lanes, std::uint32_t bytes,
                         std::span<std::uint64_t> sectors);

struct SharedCost {
    unsigned wavefronts = 0;
    unsigned conflicts = 0; ///< Wavefronts beyond one for each phase.
};

/// Shared memory has 32 banks of 4 bytes. Accesses of 8 bytes run in two phases, half a warp each,
/// of 16 bytes in four; in a phase each bank serves one 4-byte word, to any number of lanes.
SharedCost sharedCost(std::span<const LaneAddress> lanes, std::uint32_t bytes);

/// Whether no bank has to serve two words for the lanes in `mask`, each of which stays inside of
/// one word.
bool isConflictFree(std::uint32_t mask, const LaneAddresses& addresses);

/// Whether each lane's `bytes` bytes follow those of the lane before it, in the whole warp.
bool isConsecutive(const LaneAddresses& addresses, std::uint32_t bytes);

/// Most lanes that name the same address: how often an atomic must be repeated.
unsigned maxLanesOnOneAddress(std::span<const LaneAddress> lanes);

} // namespace kernelskill::engine::emulator
