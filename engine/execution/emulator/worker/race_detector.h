/// Finds unordered accesses of different threads to the same bytes.
///
/// Time is a counter that grows at each barrier of a block or warp, and at the start of each block.
/// For four bytes of memory, a cell keeps the last write and the readers since. Two accesses are
/// unordered if no barrier of both threads lies between their times. The emulator cannot know every
/// order (by atomics, fences or volatile flags). If there may be one, a finding becomes a suspicion
/// or is dropped, because alarms on correct code are worse.
#pragma once

#include "engine/execution/profile.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kernelskill::engine::emulator {

enum class RaceAccess : std::uint8_t { Read, Write, Atomic };

struct RaceConflict {
    RaceAccess earlier = RaceAccess::Write;
    RaceScope scope = RaceScope::Block;
    bool certain = false;
    std::uint32_t site = 0;   ///< The site of the earlier access; 0 if unknown.
    std::uint32_t thread = 0; ///< The linear index in its block.
    /// Only for scope Grid: the number of blocks that began before that thread's.
    std::uint64_t block = 0;
    bool threadKnown = true; ///< False if several threads read and this is only one of them.
};

class RaceDetector {
public:
    struct Cell {
        std::uint64_t write = 0;
        std::uint64_t read = 0;
    };

    void beginBlock();
    void blockBarrier();
    void warpBarrier(unsigned warp);
    /// Orders everything before: called for a named barrier or a grid barrier, whose participants
    /// are not tracked.
    void orderAll();
    void fence() { fences_ = true; }
    void sawAtomic() { atomics_ = true; }
    void sawVolatile() { atomics_ = true; }
    /// Whether something prevents races between blocks from being reported.
    [[nodiscard]] bool sawOrder() const {
        return fences_ || gridFences_ || atomics_ || gridAtomics_;
    }
    /// Whether there were more barriers than it can number; then it no longer records.
    [[nodiscard]] bool isExhausted() const { return exhausted_; }

    /// Records the access of `bytes` bytes at `address`. `cells[0]` is the cell of the 4 bytes that
    /// contain `address`. Returns true if it conflicts with an earlier access, which conflict()
    /// then describes. `spansBlocks`: the memory is visible to other blocks.
    template <RaceAccess access>
    bool record(Cell* cells, std::uint64_t address, unsigned bytes, std::uint32_t site,
                unsigned thread, bool spansBlocks);

    /// The fast path for whole words. Returns false if a full check by record() is needed.
    template <RaceAccess access>
    bool recordWords(Cell* cells, unsigned words, std::uint32_t site, unsigned thread,
                     bool spansBlocks);
    /// Whether the running block wrote the whole word.
    [[nodiscard]] bool wroteInBlock(const Cell& cell) const {
        return !exhausted_ && cell.write >= blockStart_ && maskOf(cell.write) == wholeWord;
    }

    [[nodiscard]] const RaceConflict& conflict() const { return conflict_; }
    [[nodiscard]] bool wroteSince(const Cell& cell) const { return cell.write >= intervalStart_; }

private:
    // The fields of a record, from the top bit: time (26 bits), two flags, thread (10), mask of
    // bytes (4), site (22). Comparing whole records compares times first.
    static constexpr unsigned timeShift = 38;
    static constexpr std::uint64_t lastTime = (std::uint64_t{1} << 26) - 1;
    static constexpr std::uint64_t flagA = std::uint64_t{1}
                                           << 37; ///< Write: atomic. Read: several threads.
    static constexpr std::uint64_t flagB = std::uint64_t{1} << 36; ///< For a read: several warps.
    static constexpr std::uint32_t siteLimit = 1u << 22;
    static constexpr unsigned wholeWord = 15;

    static unsigned threadOf(std::uint64_t record) { return (record >> 26) & 1023u; }
    static unsigned maskOf(std::uint64_t record) { return (record >> 22) & 15u; }
    static std::uint32_t siteOf(std::uint64_t record) { return record & (siteLimit - 1); }

    void tick();
    /// Adds another read of this interval to `read`, the record of one or several readers. One
    /// record cannot tell which thread read which byte, so it keeps the bytes that all readers
    /// read.
    static std::uint64_t withReader(std::uint64_t read, std::uint64_t added, unsigned thread);
    /// The slow path: the records overlap and belong to this block's interval or to another block.
    bool judge(RaceAccess earlier, RaceAccess now, std::uint64_t record, unsigned thread,
               std::uint32_t site, bool spansBlocks);

    std::uint64_t now_ = 1;
    std::vector<std::uint32_t> blockTimes_; ///< The time at which each block began.
    std::uint64_t intervalStart_ = 0;       ///< As the lowest record of that time.
    std::uint64_t blockStart_ = 0;
    std::uint64_t gridStart_ = 0;
    std::array<std::uint64_t, 32> warpStart_{};
    bool fences_ = false;
    bool gridFences_ = false;
    bool atomics_ = false;
    bool gridAtomics_ = false;
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
    const std::uint64_t interval = intervalStart_;
    // Whether the record is of an earlier block; no record is 0 by then.
    const auto isForeign = [&](std::uint64_t earlier) {
        return spansBlocks && earlier != 0 && earlier < blockStart_;
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
            cell.write = access == RaceAccess::Atomic ? record | flagA : record;
        }
    }
    return true;
}

template <RaceAccess access>
inline bool RaceDetector::record(Cell* cells, std::uint64_t address, unsigned bytes,
                                 std::uint32_t site, unsigned thread, bool spansBlocks) {
    if (exhausted_)
        return false;
    const std::uint64_t base =
        (now_ << timeShift) | (std::uint64_t{thread} << 26) | (site < siteLimit ? site : 0);
    bool conflicts = false;
    unsigned first = address & 3u;
    for (unsigned left = bytes; left > 0; ++cells) {
        const unsigned here = left < 4 - first ? left : 4 - first;
        const std::uint64_t mask = ((1u << here) - 1) << first;
        Cell& cell = *cells;
        const std::uint64_t write = cell.write;
        if (write != 0 &&
            (write >= intervalStart_ ? threadOf(write) != thread
                                     : spansBlocks && write < blockStart_) &&
            (maskOf(write) & mask) != 0) {
            conflicts |= judge((write & flagA) != 0 ? RaceAccess::Atomic : RaceAccess::Write,
                               access, write, thread, site, spansBlocks);
        }
        if constexpr (access == RaceAccess::Read) {
            const std::uint64_t read = cell.read;
            if (read < intervalStart_) {
                cell.read = base | (mask << 22);
            } else if ((read & flagB) == 0 || (maskOf(read) & mask) != mask) {
                cell.read = withReader(read, base | (mask << 22), thread);
            }
        } else {
            const std::uint64_t read = cell.read;
            if (read != 0 && (maskOf(read) & mask) != 0 &&
                (read >= intervalStart_ ? threadOf(read) != thread || (read & flagA) != 0
                                        : spansBlocks && read < blockStart_)) {
                conflicts |= judge(RaceAccess::Read, access, read, thread, site, spansBlocks);
            }
            std::uint64_t record = base | (mask << 22);
            if (write >= intervalStart_ && threadOf(write) == thread)
                record |= write & (std::uint64_t{15} << 22);
            if constexpr (access == RaceAccess::Atomic)
                record |= flagA;
            cell.write = record;
        }
        left -= here;
        first = 0;
    }
    return conflicts;
}

} // namespace kernelskill::engine::emulator
