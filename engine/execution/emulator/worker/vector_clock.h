/// A sparse vector clock: up to which time an observer knows of the accesses of other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernelskill::engine::emulator {

/// The race detector's time. No two blocks share a value.
using Time = std::uint32_t;

class VectorClock {
public:
    /// Whether the observer knows of what `thread` of `block` did at `time`.
    [[nodiscard]] bool covers(std::uint32_t block, unsigned thread, Time time) const;
    /// Whether it knows of something that single threads of `block` did at `since` or later.
    [[nodiscard]] bool knowsWithin(std::uint32_t block, Time since) const;

    // Each notes that the observer knows of what was done up to `time`.
    void raiseThread(std::uint32_t block, unsigned thread, Time time) {
        raise(keyOf(block, thread), time);
    }
    void raiseWarp(std::uint32_t block, unsigned warp, Time time) {
        raise(keyOf(block, firstWarp + warp), time);
    }
    void raiseBlock(std::uint32_t block, Time time) { raise(keyOf(block, wholeBlock), time); }
    /// Adds all that `other` knows. Returns whether anything was new.
    bool join(const VectorClock& other);
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    // Places of one block: its threads, then the whole block, then its warps.
    static constexpr unsigned wholeBlock = 1024;
    static constexpr unsigned firstWarp = 1025;
    static constexpr unsigned placeBits = 11;

    struct Entry {
        std::uint64_t key = 0;
        Time time = 0;
    };
    static std::uint64_t keyOf(std::uint32_t block, unsigned place) {
        return (std::uint64_t{block} << placeBits) | place;
    }
    void raise(std::uint64_t key, Time time);
    [[nodiscard]] Time timeOf(std::uint64_t key) const;

    std::vector<Entry> entries_; ///< Ascending by key.
};

/// Clocks are shared and never changed: most threads know the same. Null knows nothing.
using SharedClock = std::shared_ptr<const VectorClock>;

} // namespace kernelskill::engine::emulator
