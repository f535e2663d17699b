/// Follows which accesses happen before which, beyond the barriers of whole blocks and warps: by
/// fences with atomics or volatile flags, by barriers of some threads, within their scopes.
///
/// A fence publishes what its thread did and knows so far. A later atomic or volatile write of the
/// same thread (after a barrier: of the block) attaches that to the location. Whoever reads the
/// location atomically may know it, and does so from its next fence or barrier on. A fence or an
/// atomic of block scope reaches only threads of its block. Nothing is stored for kernels without
/// fences and ordering atomics.
#pragma once

#include "engine/execution/emulator/worker/vector_clock.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace kernelskill::engine::emulator {

/// The threads that a fence or an atomic reaches. The whole system counts as the device.
enum class SyncScope : std::uint8_t { Block, Device };

/// An atomic or volatile access, as far as it orders others.
struct SyncAccess {
    std::uint64_t address = 0;
    /// The address means another place in each block.
    bool isShared = false;
    SyncScope scope = SyncScope::Device;
    bool reads = true;
    bool writes = true;
    bool acquires = false; ///< By its own memory order, without a fence.
    bool releases = false;
};

/// The knowledge of one block's threads.
struct BlockKnowledge {
    struct Thread {
        SharedClock known;
        /// Seen in locations, by scope; known from the next fence of that scope or barrier on.
        std::array<SharedClock, 2> pending;
        /// The clocks that its last fence of each scope published.
        std::array<SharedClock, 2> published;
        std::array<Time, 2> publishedAt{};
    };
    std::vector<Thread> threads; ///< Empty while no thread knows or published anything.
    /// Times of barriers of some lanes only: [lane][other lane], one array per warp; may be empty.
    using Lanes = std::array<std::array<Time, 32>, 32>;
    std::vector<std::unique_ptr<Lanes>> lanes;
};

class HappensBefore {
public:
    /// A thread, with what barriers of its block and warp tell it.
    struct Observer {
        std::uint32_t block = 0;
        unsigned thread = 0;
        Time intervalStart = 0; ///< Of its block.
        Time warpStart = 0;     ///< Of its warp; `intervalStart` or later.
        Time now = 0;
    };
    enum class Order : std::uint8_t {
        None,
        Unfenced, ///< Only if the observer had a fence after its atomic.
        Before,
    };

    /// The block has ended: only what it published is kept.
    void endBlock(std::uint32_t block);
    /// Whether anything was published so far, so that atomics and volatile accesses matter.
    [[nodiscard]] bool isActive() const { return active_; }
    /// Whether there was more to follow than it can: from then on unknown orders count as orders.
    [[nodiscard]] bool isExhausted() const { return work_ > maxWork; }

    /// The caller advances the time after it.
    void fence(const Observer& by, SyncScope scope, unsigned blockThreads);
    /// The caller advances the time after it if it releases.
    void access(const Observer& by, const SyncAccess& access, unsigned blockThreads);
    /// `by` atomically read a place that thread `writer` of `block` had written plainly at `time`.
    void readsPlainWrite(const Observer& by, std::uint32_t block, unsigned writer, Time time,
                         unsigned blockThreads);

    /// A barrier of all threads of `block`: each knows what any of them knew.
    void blockBarrier(std::uint32_t block);
    /// A barrier of these lanes of a warp at `now`. `all`: of all its live lanes.
    void warpBarrier(std::uint32_t block, unsigned warp, std::uint32_t lanes, bool all, Time now);
    /// A barrier of some threads of a block at `now`.
    void partialBarrier(std::uint32_t block, std::span<const unsigned> threads, Time now,
                        unsigned blockThreads);
    /// A barrier of the grid: barriers of blocks tell all there is to know.
    void forget();

    /// Whether what thread `other` of `block` did at `time` happens before what `by` does now, by
    /// other means than the barriers of whole blocks and warps.
    [[nodiscard]] Order orderOf(const Observer& by, std::uint32_t block, unsigned other,
                                Time time) const;
    /// Whether `by` knows of something that threads of its own block did since the last barrier.
    [[nodiscard]] bool knowsOfInterval(const Observer& by) const;

private:
    /// Entries of clocks that are read or copied in one launch.
    static constexpr std::size_t maxWork = 30'000'000;

    struct Location {
        std::array<SharedClock, 2> published; ///< By scope.
        std::uint32_t block = 0;              ///< The block of what has block scope.
    };
    struct Place {
        std::uint64_t address = 0;
        std::uint32_t block = 0; ///< Only for shared memory.
        bool operator==(const Place&) const = default;
    };
    struct PlaceHash {
        std::size_t operator()(const Place& place) const {
            return (place.address >> 2) * 0x9e3779b97f4a7c15u + place.block;
        }
    };

    BlockKnowledge::Thread& threadOf(std::uint32_t block, unsigned thread, unsigned blockThreads);
    /// Null if nothing is known of the block.
    [[nodiscard]] const BlockKnowledge* knowledgeOf(std::uint32_t block) const;
    [[nodiscard]] const BlockKnowledge::Thread* knownThread(std::uint32_t block,
                                                            unsigned thread) const;
    [[nodiscard]] SharedClock joined(const SharedClock& one, const SharedClock& other);
    void add(SharedClock& clock, const SharedClock& more) { clock = joined(clock, more); }
    /// The clock of all that `by` did and knows up to now.
    [[nodiscard]] SharedClock snapshot(const Observer& by, const SharedClock& known);
    /// Adds to the thread's clock the writes that a fence of this scope makes visible.
    void makeKnown(BlockKnowledge::Thread& thread, SyncScope scope);
    /// Gives all of `threads` what any of them knew, waits for or published.
    void share(BlockKnowledge& knowledge, std::span<const unsigned> threads);

    std::unordered_map<std::uint32_t, BlockKnowledge>
        blocks_; ///< Those of which anything is known.
    std::unordered_map<Place, Location, PlaceHash> locations_;
    bool active_ = false;
    std::size_t work_ = 0;
};

} // namespace kernelskill::engine::emulator
