/// The events of the running warp's lanes since the trace last read them, in each lane's order.
#pragma once

#include <array>
#include <cstdint>

namespace kernelskill::engine::emulator {

enum class EventKind : std::uint8_t {
    Load = 0,
    Store = 1,
    Atomic = 2,
    BasicBlock = 3,
    ForeignBlock = 4, ///< A basic block that ends in a branch that the user did not write.
};

struct Event {
    std::uint64_t word =
        0; ///< Site (low 32 bits), bytes (16), kind (8). Equal words are one instruction.
    std::uint64_t address = 0;

    static constexpr std::uint64_t pack(std::uint32_t site, std::uint32_t bytes, EventKind kind) {
        return site | (std::uint64_t{bytes} << 32) | (static_cast<std::uint64_t>(kind) << 48);
    }
    [[nodiscard]] std::uint32_t site() const { return static_cast<std::uint32_t>(word); }
    [[nodiscard]] std::uint32_t bytes() const { return (word >> 32) & 0xffff; }
    [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(word >> 48); }
};

inline constexpr unsigned warpLanes = 32;

/// Addresses by lane; the entries of inactive lanes are undefined.
using LaneAddresses = std::array<std::uint64_t, warpLanes>;

/// One event of each lane. Lanes with the same path fill whole rows, which are processed at once.
struct alignas(64) EventRow {
    std::array<std::uint64_t, warpLanes> words;
    LaneAddresses addresses;
};

/// A lane's events are in consecutive rows, from the first row on.
struct EventLog {
    static constexpr std::uint32_t capacity = 512;

    void add(unsigned lane, Event event) {
        EventRow& row = rows[counts[lane]++];
        row.words[lane] = event.word;
        row.addresses[lane] = event.address;
    }

    std::array<EventRow, capacity> rows;
    std::array<std::uint32_t, warpLanes> counts{};
};

} // namespace kernelskill::engine::emulator
