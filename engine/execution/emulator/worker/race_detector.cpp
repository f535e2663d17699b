#include "engine/execution/emulator/worker/race_detector.h"

#include <algorithm>

namespace kernelskill::engine::emulator {

void RaceDetector::tick() {
    if (now_ == lastTime) {
        exhausted_ = true;
        return;
    }
    ++now_;
}

void RaceDetector::beginBlock() {
    tick();
    blockTimes_.push_back(static_cast<std::uint32_t>(now_));
    blockStart_ = intervalStart_ = now_ << timeShift;
    warpStart_.fill(blockStart_);
    gridFences_ |= fences_;
    gridAtomics_ |= atomics_;
    fences_ = atomics_ = false;
}

void RaceDetector::blockBarrier() {
    tick();
    intervalStart_ = now_ << timeShift;
    warpStart_.fill(intervalStart_);
    gridFences_ |= fences_;
    gridAtomics_ |= atomics_;
    fences_ = atomics_ = false;
}

void RaceDetector::warpBarrier(unsigned warp) {
    tick();
    warpStart_[warp] = now_ << timeShift;
}

void RaceDetector::orderAll() {
    blockBarrier();
    gridStart_ = blockStart_ = intervalStart_;
}

bool RaceDetector::judge(RaceAccess earlier, RaceAccess now, std::uint64_t record, unsigned thread,
                         std::uint32_t site, bool spansBlocks) {
    if (earlier == RaceAccess::Atomic && now == RaceAccess::Atomic)
        return false;
    const bool involvesAtomic = earlier == RaceAccess::Atomic || now == RaceAccess::Atomic;
    const unsigned other = threadOf(record);
    const bool severalReaders = earlier == RaceAccess::Read && (record & flagA) != 0;
    const bool severalWarps = earlier == RaceAccess::Read && (record & flagB) != 0;
    RaceConflict found;
    found.earlier = earlier;
    found.site = siteOf(record);
    found.thread = other;
    found.threadKnown = other != thread || !severalReaders;
    if (record < intervalStart_) {
        // Another block. Blocks communicate on purpose by fences, and by atomics on the same bytes.
        if (!spansBlocks || record < gridStart_ || involvesAtomic || fences_ || gridFences_ ||
            atomics_ || gridAtomics_)
            return false;
        found.scope = RaceScope::Grid;
        found.certain = false;
        const auto next = std::ranges::upper_bound(blockTimes_, record >> timeShift);
        found.block = static_cast<std::uint64_t>(next - blockTimes_.begin()) - 1;
    } else if (other / 32 != thread / 32 || severalWarps) {
        if (fences_)
            return false;
        found.scope = RaceScope::Block;
        found.certain = !atomics_ && !involvesAtomic;
    } else {
        // Lanes of a warp: one instruction of all lanes is no race, and a warp barrier orders them.
        if (fences_ || involvesAtomic || record < warpStart_[thread / 32] || found.site == site)
            return false;
        found.scope = RaceScope::Warp;
        found.certain = false;
    }
    conflict_ = found;
    return true;
}

} // namespace kernelskill::engine::emulator
