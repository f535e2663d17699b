#include "engine/execution/emulator/worker/race_detector.h"

#include <algorithm>

namespace kernelskill::engine::emulator {

namespace {

bool isAtomic(RaceAccess access) {
    return access == RaceAccess::Atomic || access == RaceAccess::BlockAtomic;
}

RacePair pairOf(RaceAccess one, RaceAccess other) {
    if (isAtomic(one) && isAtomic(other))
        return RacePair::AtomicScopes;
    if (isAtomic(one) || isAtomic(other))
        return one == RaceAccess::Read || other == RaceAccess::Read ? RacePair::AtomicRead
                                                                    : RacePair::AtomicWrite;
    return one == RaceAccess::Read || other == RaceAccess::Read ? RacePair::ReadWrite
                                                                : RacePair::WriteWrite;
}

} // namespace

void RaceDetector::tick() {
    if (now_ == lastTime) {
        exhausted_ = true;
        return;
    }
    ++now_;
}

void RaceDetector::takeTurn(std::uint32_t block) {
    tick();
    block_ = block;
    turns_.push_back({static_cast<Time>(now_), block});
    turn_.interval = turn_.blockStart = now_ << timeShift;
}

void RaceDetector::startInterval() {
    own_.interval = turn_.interval = now_ << timeShift;
    warpStart_.fill(own_.interval);
    atomics_ = false;
}

void RaceDetector::beginBlock() {
    takeTurn(blocksBegun_++);
    own_.blockStart = turn_.blockStart;
    startInterval();
}

void RaceDetector::pauseBlock() {
    paused_[block_] = {own_, warpStart_, atomics_};
}

void RaceDetector::resumeBlock(std::uint32_t block) {
    const PausedBlock& paused = paused_[block];
    own_ = paused.starts;
    warpStart_ = paused.warpStart;
    atomics_ = paused.atomics;
    takeTurn(block);
    if (own_.interval < gridStart_)
        startInterval();
}

void RaceDetector::blockBarrier() {
    tick();
    startInterval();
    order_.blockBarrier(block_);
}

void RaceDetector::warpBarrier(unsigned warp, std::uint32_t lanes, bool all) {
    order_.warpBarrier(block_, warp, lanes, all, static_cast<Time>(now_));
    tick();
    if (all)
        warpStart_[warp] = now_ << timeShift;
}

void RaceDetector::partialBarrier(std::span<const unsigned> threads) {
    order_.partialBarrier(block_, threads, static_cast<Time>(now_), blockThreads_);
    tick();
}

void RaceDetector::gridBarrier() {
    tick();
    gridStart_ = now_ << timeShift;
    order_.forget();
    startInterval();
}

HappensBefore::Observer RaceDetector::observer(unsigned thread) const {
    return {block_, thread, timeOf(own_.interval), timeOf(warpStart_[thread / 32]),
            static_cast<Time>(now_)};
}

void RaceDetector::fence(unsigned thread, SyncScope scope) {
    sawOrder_ = true;
    order_.fence(observer(thread), scope, blockThreads_);
    tick();
}

void RaceDetector::synchronise(unsigned thread, const SyncAccess& access, const Cell* cell) {
    sawOrder_ = true;
    atomics_ = true;
    if (!order_.isActive() && !access.releases)
        return;
    if (access.reads && cell != nullptr && cell->write != 0 && (cell->write & flagA) == 0) {
        const std::uint32_t writer = access.isShared ? block_ : blockAt(cell->write);
        const bool isOfBlock = !access.isShared || cell->write >= own_.blockStart;
        if (isOfBlock && (writer != block_ || threadOf(cell->write) != thread))
            order_.readsPlainWrite(observer(thread), writer, threadOf(cell->write),
                                   timeOf(cell->write), blockThreads_);
    }
    order_.access(observer(thread), access, blockThreads_);
    if (access.releases)
        tick();
}

bool RaceDetector::meetsAtomic(unsigned thread, bool isShared, const Cell& cell,
                               std::uint32_t& block) const {
    if (cell.write == 0 || (cell.write & flagA) == 0 || (isShared && cell.write < own_.blockStart))
        return false;
    block = isShared ? block_ : blockAt(cell.write);
    return block != block_ || threadOf(cell.write) != thread;
}

std::uint32_t RaceDetector::blockAt(std::uint64_t record) const {
    const Time time = timeOf(record);
    if (time >= turns_.back().first)
        return block_;
    const auto next = std::ranges::upper_bound(turns_, time, {}, &Turn::first);
    return next == turns_.begin() ? 0 : std::prev(next)->block;
}

RaceDoubt RaceDetector::doubtOfAtomic(RaceAccess earlier, RaceAccess now) const {
    // A plain read beside an atomic sees an old value or a new one, which may be what is meant.
    // Volatile writes count as atomic ones, and old code writes flags either way.
    return pairOf(earlier, now) == RacePair::AtomicRead || volatiles_ ? RaceDoubt::AtomicBeside
                                                                      : RaceDoubt::None;
}

bool RaceDetector::readsUnordered(const Cell* cells, std::uint64_t address, unsigned bytes,
                                  std::uint32_t site, unsigned thread, bool spansBlocks) {
    if (exhausted_)
        return false;
    const Starts& starts = spansBlocks ? turn_ : own_;
    unsigned first = address & 3u;
    for (unsigned left = bytes; left > 0; ++cells) {
        const unsigned here = left < 4 - first ? left : 4 - first;
        const std::uint64_t mask = ((1u << here) - 1) << first;
        const std::uint64_t write = cells->write;
        const bool isOthers = write >= starts.interval ? threadOf(write) != thread
                                                       : spansBlocks && write < starts.blockStart;
        if (write != 0 && isOthers && isAtomic(writeOf(write)) && (maskOf(write) & mask) != 0 &&
            judge(writeOf(write), RaceAccess::Read, write, *cells, thread, site, spansBlocks)) {
            conflict_.doubt = RaceDoubt::Volatile;
            return true;
        }
        left -= here;
        first = 0;
    }
    return false;
}

bool RaceDetector::judge(RaceAccess earlier, RaceAccess now, std::uint64_t record, const Cell& cell,
                         unsigned thread, std::uint32_t site, bool spansBlocks) {
    // Who reads before an atomic may only prepare its own. A read that comes after shows the race.
    if (earlier == RaceAccess::Read && isAtomic(now))
        return false;
    RaceConflict found;
    found.earlier = earlier;
    found.pair = pairOf(earlier, now);
    found.site = siteOf(record);
    found.thread = threadOf(record);
    found.block = spansBlocks ? blockAt(record) : block_;
    const bool conflicts = found.block == block_
                               ? judgeOwn(found, now, record, cell, thread, site)
                               : judgeForeign(found, now, record, cell, thread, site);
    if (conflicts)
        conflict_ = found;
    return conflicts;
}

bool RaceDetector::judgeOwn(RaceConflict& found, RaceAccess now, std::uint64_t record,
                            const Cell& cell, unsigned thread, std::uint32_t site) const {
    if (found.pair == RacePair::AtomicScopes || record < own_.interval)
        return false;
    const bool severalReaders = found.earlier == RaceAccess::Read && (record & flagA) != 0;
    const bool severalWarps = found.earlier == RaceAccess::Read && (record & flagB) != 0;
    if (found.thread == thread && !severalReaders)
        return false;
    found.threadKnown = found.thread != thread || !severalReaders;
    const bool isInWarp = found.thread / 32 == thread / 32 && !severalWarps;
    if (isInWarp && record < warpStart_[thread / 32])
        return false;
    auto order = HappensBefore::Order::None;
    if (severalReaders) {
        // Which threads read is not recorded, so any known order may be one of all of them.
        if (order_.knowsOfInterval(observer(thread)))
            return false;
    } else {
        order = order_.orderOf(observer(thread), block_, found.thread, timeOf(record));
        if (order == HappensBefore::Order::Before)
            return false;
    }
    const bool involvesAtomic = isAtomic(found.earlier) || isAtomic(now);
    if (isInWarp) {
        // One instruction of all lanes is no race.
        if (found.pair == RacePair::AtomicRead || found.site == site)
            return false;
        found.scope = RaceScope::Warp;
        // The other lane read by the same instruction before it wrote. In lock-step this lane would
        // have read then too, so one of the two updates is lost.
        const bool losesUpdate = found.pair == RacePair::ReadWrite && now == RaceAccess::Read &&
                                 (record & flagB) != 0 && siteOf(cell.read) == site &&
                                 threadOf(cell.read) == found.thread;
        found.doubt = involvesAtomic ? doubtOfAtomic(found.earlier, now)
                      : losesUpdate  ? RaceDoubt::None
                                     : RaceDoubt::LockStep;
    } else {
        found.scope = RaceScope::Block;
        found.doubt = involvesAtomic ? doubtOfAtomic(found.earlier, now)
                      : atomics_     ? RaceDoubt::PossibleFlag
                                     : RaceDoubt::None;
    }
    if (order == HappensBefore::Order::Unfenced)
        found.doubt = RaceDoubt::Unfenced;
    return true;
}

bool RaceDetector::judgeForeign(RaceConflict& found, RaceAccess now, std::uint64_t record,
                                const Cell& cell, unsigned thread, std::uint32_t site) const {
    const bool reachesAll =
        found.earlier != RaceAccess::BlockAtomic && now != RaceAccess::BlockAtomic;
    if (record < gridStart_ || (found.pair == RacePair::AtomicScopes && reachesAll))
        return false;
    const auto order = order_.orderOf(observer(thread), static_cast<std::uint32_t>(found.block),
                                      found.thread, timeOf(record));
    if (order == HappensBefore::Order::Before)
        return false;
    found.scope = RaceScope::Grid;
    switch (found.pair) {
    case RacePair::AtomicScopes:
        found.doubt = RaceDoubt::None;
        break;
    case RacePair::AtomicRead:
    case RacePair::AtomicWrite:
        found.doubt = doubtOfAtomic(found.earlier, now);
        break;
    case RacePair::WriteWrite: {
        // This thread read the other's value by which it makes its own: an update may be lost.
        const bool updates =
            siteOf(record) == site && cell.read >= turn_.interval && threadOf(cell.read) == thread;
        found.doubt = updates ? RaceDoubt::None : RaceDoubt::BetweenBlocks;
        break;
    }
    case RacePair::ReadWrite:
        found.doubt = RaceDoubt::BetweenBlocks;
        break;
    }
    if (order == HappensBefore::Order::Unfenced)
        found.doubt = RaceDoubt::Unfenced;
    return true;
}

} // namespace kernelskill::engine::emulator
