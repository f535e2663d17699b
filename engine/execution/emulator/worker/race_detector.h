/// Finds unordered accesses of different threads to the same bytes.
///
/// Time is a counter that grows at each barrier of a block or warp, at each fence, and whenever
/// another block begins or goes on. For four bytes of memory, a cell keeps the last write and the
/// readers since. Two accesses are ordered if a barrier of both threads lies between their times,
/// or if HappensBefore knows another order. Whatever else is in conflict is a race. It is certain
/// unless `doubt` names a reason, because alarms on correct code are worse.
#pragma once

#include "engine/execution/emulator/worker/happens_before.h"
#include "engine/execution/profile.h"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace kernelskill::engine::emulator {

/// A volatile write counts as an atomic one.
enum class RaceAccess : std::uint8_t { Read, Write, Atomic, BlockAtomic };

struct RaceConflict {
    RaceAccess earlier = RaceAccess::Write;
    RaceScope scope = RaceScope::Block;
    RacePair pair = RacePair::ReadWrite;
    RaceDoubt doubt = RaceDoubt::None;
    std::uint32_t site = 0;   ///< The site of the earlier access; 0 if unknown.
    std::uint32_t thread = 0; ///< The linear index in its block.
    /// Only for scope Grid: the number of blocks that began before that thread's.
    std::uint64_t block = 0;
    bool threadKnown = true; ///< False if several threads read and this is only one of them.
    [[nodiscard]] bool certain() const { return doubt == RaceDoubt::None; }
};

class RaceDetector {
public:
    struct Cell {
        std::uint64_t write = 0;
        std::uint64_t read = 0;
    };

    /// The number of threads of each block, for what is known of them.
    void setBlockThreads(unsigned threads) { blockThreads_ = threads; }
    /// A new block begins and runs. Blocks are numbered in this order.
    void beginBlock();
    /// The running block pauses, and others run.
    void pauseBlock();
    /// The paused block with this number goes on.
    void resumeBlock(std::uint32_t block);
    /// The running block has ended.
    void endBlock() { order_.endBlock(block_); }
    [[nodiscard]] std::uint32_t runningBlock() const { return block_; }
    void blockBarrier();
    /// A barrier of these lanes of a warp. `all`: no other lane of the warp is alive.
    void warpBarrier(unsigned warp, std::uint32_t lanes = ~0u, bool all = true);
    /// A barrier of some threads of the running block.
    void partialBarrier(std::span<const unsigned> threads);
    /// A barrier of all blocks.
    void gridBarrier();
    void fence(unsigned thread, SyncScope scope);
    /// Notes what an atomic or volatile access orders. `cell` is the one of the accessed bytes
    /// before this access is recorded; nullptr if there is none.
    void synchronise(unsigned thread, const SyncAccess& access, const Cell* cell);
    /// Whether the last write of the cell is an atomic of another thread that lives beside this
    /// one. `block` gets the number of its block.
    [[nodiscard]] bool meetsAtomic(unsigned thread, bool isShared, const Cell& cell,
                                   std::uint32_t& block) const;
    void sawVolatile() { volatiles_ = true; }
    /// Whether blocks may have communicated.
    [[nodiscard]] bool sawOrder() const { return sawOrder_; }
    /// Whether there were more barriers than it can number; then it no longer records.
    [[nodiscard]] bool isExhausted() const { return exhausted_; }
    /// Whether fences and atomics were too many to follow; then some orders are assumed.
    [[nodiscard]] bool assumesOrders() const { return order_.isExhausted(); }

    /// Records the access of `bytes` bytes at `address`. `cells[0]` is the cell of the 4 bytes that
    /// contain `address`. Returns true if it conflicts with an earlier access, which conflict()
    /// then describes. `spansBlocks`: the memory is visible to other blocks.
    template <RaceAccess access>
    bool record(Cell* cells, std::uint64_t address, unsigned bytes, std::uint32_t site,
                unsigned thread, bool spansBlocks);

    /// A volatile read, which is not recorded. Returns true if nothing orders it and the volatile
    /// or atomic write whose value it reads.
    bool readsUnordered(const Cell* cells, std::uint64_t address, unsigned bytes,
                        std::uint32_t site, unsigned thread, bool spansBlocks);

    /// The fast path for whole words. Returns false if a full check by record() is needed.
    template <RaceAccess access>
    bool recordWords(Cell* cells, unsigned words, std::uint32_t site, unsigned thread,
                     bool spansBlocks);
    /// Whether the running block wrote the whole word of its shared memory.
    [[nodiscard]] bool wroteInBlock(const Cell& cell) const {
        return !exhausted_ && cell.write >= own_.blockStart && maskOf(cell.write) == wholeWord;
    }

    [[nodiscard]] const RaceConflict& conflict() const { return conflict_; }

private:
    // The fields of a record, from the top bit: time (26 bits), two flags, thread (10), mask of
    // bytes (4), site (22). Comparing whole records compares times first.
    static constexpr unsigned timeShift = 38;
    static constexpr std::uint64_t lastTime = (std::uint64_t{1} << 26) - 1;
    /// Write: atomic. Read: several threads.
    static constexpr std::uint64_t flagA = std::uint64_t{1} << 37;
    /// Atomic: of block scope. Plain write: the thread read the word before, in the same interval.
    /// Read: several warps.
    static constexpr std::uint64_t flagB = std::uint64_t{1} << 36;
    static constexpr std::uint32_t siteLimit = 1u << 22;
    static constexpr unsigned wholeWord = 15;

    static unsigned threadOf(std::uint64_t record) { return (record >> 26) & 1023u; }
    static unsigned maskOf(std::uint64_t record) { return (record >> 22) & 15u; }
    static std::uint32_t siteOf(std::uint64_t record) { return record & (siteLimit - 1); }
    static Time timeOf(std::uint64_t record) { return static_cast<Time>(record >> timeShift); }
    static RaceAccess writeOf(std::uint64_t record) {
        return (record & flagA) == 0   ? RaceAccess::Write
               : (record & flagB) == 0 ? RaceAccess::Atomic
                                       : RaceAccess::BlockAtomic;
    }
    template <RaceAccess access>
    static constexpr std::uint64_t flagsOf() {
        return access == RaceAccess::Atomic        ? flagA
               : access == RaceAccess::BlockAtomic ? flagA | flagB
                                                   : 0;
    }

    /// Times as the lowest record of that time.
    struct Starts {
        std::uint64_t interval = 0; ///< The last barrier of the block.
        std::uint64_t blockStart = 0;
    };
    /// The state of a block that is kept while others run.
    struct PausedBlock {
        Starts starts;
        std::array<std::uint64_t, 32> warpStart{};
        bool atomics = false;
    };
    /// The block that ran from `first` on.
    struct Turn {
        Time first = 0;
        std::uint32_t block = 0;
    };

    void tick();
    /// From now on the block with this number runs.
    void takeTurn(std::uint32_t block);
    void startInterval();
    [[nodiscard]] std::uint32_t blockAt(std::uint64_t record) const;
    [[nodiscard]] HappensBefore::Observer observer(unsigned thread) const;
    /// Adds another read of this interval to `read`, the record of one or several readers. One
    /// record cannot tell which thread read which byte, so it keeps the bytes that all readers
    /// read.
    static std::uint64_t withReader(std::uint64_t read, std::uint64_t added, unsigned thread);
    /// The slow path: `record` is of the same bytes, and no barrier of the running block is known
    /// to lie between. `cell` is as it was before this access.
    bool judge(RaceAccess earlier, RaceAccess now, std::uint64_t record, const Cell& cell,
               unsigned thread, std::uint32_t site, bool spansBlocks);
    /// judge() for a record of the running block, or of another one, `found.block`. Each completes
    /// `found` and returns whether the accesses are in conflict.
    bool judgeOwn(RaceConflict& found, RaceAccess now, std::uint64_t record, const Cell& cell,
                  unsigned thread, std::uint32_t site) const;
    bool judgeForeign(RaceConflict& found, RaceAccess now, std::uint64_t record, const Cell& cell,
                      unsigned thread, std::uint32_t site) const;
    /// Why a conflict of an atomic and a plain access is not certain.
    [[nodiscard]] RaceDoubt doubtOfAtomic(RaceAccess earlier, RaceAccess now) const;

    std::uint64_t now_ = 1;
    std::vector<Turn> turns_; ///< Ascending.
    std::unordered_map<std::uint32_t, PausedBlock> paused_;
    std::uint32_t block_ = 0;
    std::uint32_t blocksBegun_ = 0;
    /// For shared memory, whose cells only the running block touches.
    Starts own_;
    /// For memory of all blocks: a record before the running block's turn may be of any block.
    Starts turn_;
    std::uint64_t gridStart_ = 0;
    std::array<std::uint64_t, 32> warpStart_{};
    HappensBefore order_;
    unsigned blockThreads_ = 1024;
    bool sawOrder_ = false;
    bool atomics_ = false; ///< Since the block's last barrier.
    bool volatiles_ = false;
    bool exhausted_ = false;
    RaceConflict conflict_;
};

inline std::uint64_t RaceDetector::withReader(std::uint64_t read, std::uint64_t added,
                                              unsigned thread) {
    const std::uint64_t mask = maskOf(added);
    const std::uint64_t common = maskOf(read) & mask;
    const std::uint64_t warpFlag = threadOf(read) / 32 != thread / 32 ? flagB : 0;
    if ((read & flagA) != 0)
        return common == maskOf(read) ? read | warpFlag : read;
    if (threadOf(read) == thread)
        return read | (mask << 22);
    if (common == 0)
        return added;
    return (read & ~(std::uint64_t{15} << 22)) | (common << 22) | flagA | warpFlag;
}

template <RaceAccess access>
[[gnu::always_inline]] inline bool RaceDetector::recordWords(Cell* cells, unsigned words,
                                                             std::uint32_t site, unsigned thread,
                                                             bool spansBlocks) {
    if (exhausted_) [[unlikely]]
        return false;
    const std::uint64_t record = (now_ << timeShift) | (std::uint64_t{thread} << 26) |
                                 (std::uint64_t{wholeWord} << 22) | (site < siteLimit ? site : 0);
    const std::uint64_t interval = spansBlocks ? turn_.interval : own_.interval;
    // Whether the record is of an earlier turn; no record is 0 by then.
    const auto isForeign = [&](std::uint64_t earlier) {
        return spansBlocks && earlier != 0 && earlier < turn_.blockStart;
    };
    for (unsigned i = 0; i < words; ++i) {
        Cell& cell = cells[i];
        const std::uint64_t write = cell.write;
        const std::uint64_t read = cell.read;
        if (write >= interval ? threadOf(write) != thread : isForeign(write)) [[unlikely]]
            return false;
        if constexpr (access == RaceAccess::Read) {
            if (read < interval) {
                cell.read = record;
                continue;
            }
            if (maskOf(read) != wholeWord)
                return false;
            if (threadOf(read) != thread)
                cell.read = read | flagA | (threadOf(read) / 32 != thread / 32 ? flagB : 0);
        } else {
            if (read >= interval ? threadOf(read) != thread || (read & flagA) != 0
                                 : isForeign(read)) [[unlikely]]
                return false;
            cell.write = record | flagsOf<access>() |
                         (access == RaceAccess::Write && read >= interval ? flagB : 0);
        }
    }
    return true;
}

template <RaceAccess access>
inline bool RaceDetector::record(Cell* cells, std::uint64_t address, unsigned bytes,
                                 std::uint32_t site, unsigned thread, bool spansBlocks) {
    if (exhausted_)
        return false;
    const Starts& starts = spansBlocks ? turn_ : own_;
    const std::uint64_t base =
        (now_ << timeShift) | (std::uint64_t{thread} << 26) | (site < siteLimit ? site : 0);
    bool conflicts = false;
    unsigned first = address & 3u;
    for (unsigned left = bytes; left > 0; ++cells) {
        const unsigned here = left < 4 - first ? left : 4 - first;
        const std::uint64_t mask = ((1u << here) - 1) << first;
        Cell& cell = *cells;
        const Cell before = cell;
        const std::uint64_t write = before.write;
        if (write != 0 &&
            (write >= starts.interval ? threadOf(write) != thread
                                      : spansBlocks && write < starts.blockStart) &&
            (maskOf(write) & mask) != 0) {
            conflicts |= judge(writeOf(write), access, write, before, thread, site, spansBlocks);
        }
        if constexpr (access == RaceAccess::Read) {
            const std::uint64_t read = before.read;
            if (read < starts.interval) {
                cell.read = base | (mask << 22);
            } else if ((read & flagB) == 0 || (maskOf(read) & mask) != mask) {
                cell.read = withReader(read, base | (mask << 22), thread);
            }
        } else {
            const std::uint64_t read = before.read;
            if (read != 0 && (maskOf(read) & mask) != 0 &&
                (read >= starts.interval ? threadOf(read) != thread || (read & flagA) != 0
                                         : spansBlocks && read < starts.blockStart)) {
                conflicts |=
                    judge(RaceAccess::Read, access, read, before, thread, site, spansBlocks);
            }
            std::uint64_t record = base | (mask << 22) | flagsOf<access>();
            if (access == RaceAccess::Write && read >= starts.interval &&
                threadOf(read) == thread && (read & flagA) == 0)
                record |= flagB;
            if (write >= starts.interval && threadOf(write) == thread)
                record |= write & (std::uint64_t{15} << 22);
            cell.write = record;
        }
        left -= here;
        first = 0;
    }
    return conflicts;
}

} // namespace kernelskill::engine::emulator
