#include "engine/execution/emulator/worker/cuda_block.h"

#include "engine/execution/emulator/worker/launch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

/// The number of rounds in which lanes only yield before another warp gets its turn.
constexpr unsigned roundsPerTurn = 64;

} // namespace

CudaBlock::CudaBlock(Launch& launch, KsIndex extent, const Schedule& schedule)
    : launch_(launch), schedule_(schedule),
      threads_(static_cast<std::size_t>(extent.x) * extent.y * extent.z),
      warps_((threads_.size() + warpLanes - 1) / warpLanes), slotUsers_(warps_.size()) {
    KsIndex next{0, 0, 0};
    for (CudaThread& thread : threads_) {
        thread.index = next;
        if (++next.x < extent.x)
            continue;
        next.x = 0;
        if (++next.y < extent.y)
            continue;
        next.y = 0;
        ++next.z;
    }
    for (unsigned i = 0; i < threads_.size(); ++i)
        warps_[warpOf(i)].members |= 1u << (i % warpLanes);
    warpOrder_.resize(warps_.size());
}

void CudaBlock::arrange() {
    std::iota(warpOrder_.begin(), warpOrder_.end(), 0u);
    std::iota(laneOrder_.begin(), laneOrder_.end(), std::uint8_t{0});
    if (schedule_.order == Schedule::Order::Reverse) {
        std::ranges::reverse(warpOrder_);
        std::ranges::reverse(laneOrder_);
    } else if (schedule_.order == Schedule::Order::Random) {
        std::mt19937_64 random(schedule_.seed ^ (std::uint64_t{index_.z} << 42) ^
                               (std::uint64_t{index_.y} << 21) ^ index_.x);
        std::ranges::shuffle(warpOrder_, random);
        std::ranges::shuffle(laneOrder_, random);
    }
    for (std::size_t place = 0; place < laneOrder_.size(); ++place)
        lanePlace_[laneOrder_[place]] = static_cast<std::uint8_t>(place);
}

void CudaBlock::begin(KsIndex index) {
    index_ = index;
    arrange();
    for (CudaThread& thread : threads_) {
        thread.state = ThreadState::Fresh;
        thread.site = 0;
    }
    for (Warp& warp : warps_) {
        warp.exited = 0;
        warp.branchMask.fill(0);
    }
    live_ = static_cast<unsigned>(threads_.size());
    namedArrivals_.clear();
}

CudaBlock::Outcome CudaBlock::run() {
    while (live_ != 0) {
        bool progressed = false;
        for (const unsigned warp : warpOrder_) {
            progressed |= runWarp(warp);
            if (launch_.takeInterruption() == Interruption::OfBlock)
                return Outcome::Interrupted;
        }
        if (live_ != 0 && atGridBarrier_ == live_)
            return Outcome::AtGridBarrier;
        if (!progressed && live_ != 0)
            deadlock();
        if (live_ != 0 && schedule_.interruption != 0)
            return Outcome::Interrupted;
    }
    return Outcome::Finished;
}

bool CudaBlock::runWarp(unsigned warp) {
    const unsigned first = warp * warpLanes;
    const unsigned end =
        std::min<unsigned>(first + warpLanes, static_cast<unsigned>(threads_.size()));
    bool progressed = false;
    bool runnable = true;
    for (unsigned round = 0; runnable && round < roundsPerTurn; ++round) {
        runnable = false;
        for (unsigned place = 0; place < warpLanes; ++place) {
            const unsigned thread = first + laneOrder_[place];
            if (thread >= end)
                continue;
            const ThreadState state = threads_[thread].state;
            if ((state == ThreadState::Fresh || state == ThreadState::Ready) &&
                launch_.hasLogRoom(thread % warpLanes)) {
                place = lanePlace_[resume(thread) % warpLanes];
                progressed = true;
                if (launch_.isInterrupted()) {
                    launch_.drainLog(warps_[warp], 0);
                    return true;
                }
            }
        }
        std::uint32_t unfinished = 0;
        for (unsigned thread = first; thread < end; ++thread) {
            if (threads_[thread].state == ThreadState::Ready)
                unfinished |= 1u << (thread % warpLanes);
        }
        if (unfinished == 0 && resolveActiveMasks(warp)) {
            runnable = true;
            continue;
        }
        launch_.drainLog(warps_[warp], unfinished);
        runnable = unfinished != 0;
    }
    // Warps share one log, so the rest of the log of spinning lanes is counted as it is.
    launch_.drainLog(warps_[warp], 0);
    return progressed;
}

unsigned CudaBlock::resume(unsigned thread) {
    running_ = thread;
    CudaThread& first = threads_[thread];
    if (first.state == ThreadState::Fresh) {
        first.state = ThreadState::Ready;
        launch_.startFiber(first);
    }
    launch_.enterThread(thread, first.index);
    void* const context = launch_.switchTo(first.context);
    CudaThread& last = threads_[running_];
    last.context = context;
    launch_.leaveThread();
    if (last.state == ThreadState::Exited) {
        launch_.endFiber(last);
        threadExited(running_);
    }
    return running_;
}

bool CudaBlock::goOnWithNextThread() {
    CudaThread& ended = threads_[running_];
    ended.state = ThreadState::Exited;
    const unsigned lane = running_ % warpLanes;
    const unsigned place = lanePlace_[lane] + 1u;
    if (place == warpLanes)
        return false;
    const unsigned next = running_ - lane + laneOrder_[place];
    if (next >= threads_.size() || threads_[next].state != ThreadState::Fresh ||
        !launch_.hasLogRoom(next % warpLanes))
        return false;
    launch_.leaveThread();
    threadExited(running_);
    threads_[next].stack = std::exchange(ended.stack, noStack);
    threads_[next].state = ThreadState::Ready;
    running_ = next;
    launch_.enterThread(next, threads_[next].index);
    return true;
}

void CudaBlock::threadExited(unsigned thread) {
    dropSlots(thread);
    const unsigned warp = warpOf(thread);
    warps_[warp].exited |= 1u << (thread % warpLanes);
    --live_;
    if (!warps_[warp].forming.empty())
        completeGroups(warp);
    if (atBarrier_ != 0)
        releaseBarrierIfComplete();
}

void CudaBlock::wait(ThreadState state, Site site) {
    CudaThread& thread = threads_[running_];
    thread.state = state;
    thread.site = site;
    launch_.switchBack();
}

void CudaBlock::yield() {
    // The thread is ready: it only steps back.
    launch_.switchBack();
}

int CudaBlock::barrier(KsBarrierKind kind, int predicate, Site site) {
    CudaThread& thread = threads_[running_];
    thread.barrierKind = kind;
    barrierPredicates_ += predicate != 0;
    ++atBarrier_;
    thread.state = ThreadState::AtBarrier;
    thread.site = site;
    releaseBarrierIfComplete();
    launch_.switchBack();
    return static_cast<int>(thread.result);
}

void CudaBlock::releaseBarrierIfComplete() {
    if (live_ == 0 || atBarrier_ != live_)
        return;
    reportBarrierDivergence();
    const unsigned predicates = barrierPredicates_;
    bool first = true;
    for (CudaThread& thread : threads_) {
        if (thread.state != ThreadState::AtBarrier)
            continue;
        thread.state = ThreadState::Ready;
        if (first) {
            if (live_ < threads_.size())
                launch_.reportMissedBarrier(*this, static_cast<unsigned>(&thread - threads_.data()),
                                            thread.site, threads_.size() - live_);
            launch_.blockBarrierPassed(thread.site);
        }
        first = false;
        switch (thread.barrierKind) {
        case KsBarrierPlain:
            thread.result = 0;
            break;
        case KsBarrierCount:
            thread.result = predicates;
            break;
        case KsBarrierAnd:
            thread.result = predicates == live_ ? 1 : 0;
            break;
        case KsBarrierOr:
            thread.result = predicates != 0 ? 1 : 0;
            break;
        }
    }
    atBarrier_ = 0;
    barrierPredicates_ = 0;
}

void CudaBlock::reportBarrierDivergence() {
    const CudaThread* first = nullptr;
    for (unsigned i = 0; i < threads_.size(); ++i) {
        const CudaThread& thread = threads_[i];
        if (thread.state != ThreadState::AtBarrier)
            continue;
        if (first == nullptr)
            first = &thread;
        if (thread.site == first->site)
            continue;
        // In one warp this is undefined; between warps the hardware counts arrivals and continues.
        const auto firstIndex = static_cast<unsigned>(first - threads_.data());
        launch_.reportBarrierDivergence(*this, i, thread.site, firstIndex, first->site,
                                        warpOf(i) == warpOf(firstIndex));
        return;
    }
}

void CudaBlock::namedBarrier(unsigned name, unsigned count, Site site) {
    threads_[running_].barrierName = name;
    threads_[running_].barrierThreads = count;
    threads_[running_].state = ThreadState::AtNamedBarrier;
    threads_[running_].site = site;
    if (++namedArrivals_[name] >= count) {
        namedArrivals_[name] = 0;
        std::vector<unsigned> passed;
        for (unsigned i = 0; i < threads_.size(); ++i) {
            CudaThread& thread = threads_[i];
            if (thread.state != ThreadState::AtNamedBarrier || thread.barrierName != name)
                continue;
            thread.state = ThreadState::Ready;
            passed.push_back(i);
        }
        launch_.partialBarrierPassed(passed, site);
        return;
    }
    launch_.switchBack();
}

void CudaBlock::gridBarrier(Site site) {
    ++atGridBarrier_;
    wait(ThreadState::AtGridBarrier, site);
}

void CudaBlock::leaveGridBarrier() {
    for (CudaThread& thread : threads_) {
        if (thread.state == ThreadState::AtGridBarrier)
            thread.state = ThreadState::Ready;
    }
    atGridBarrier_ = 0;
}

std::uint8_t CudaBlock::takeSlots(Warp& warp) {
    auto& users = slotUsers_[static_cast<std::size_t>(&warp - warps_.data())];
    // Index 0 means none. One is always free, because lanes hold at most 32 and form at most 32.
    const auto free = std::find(users.begin() + 1, users.end(), 0);
    return static_cast<std::uint8_t>(free - users.begin());
}

void CudaBlock::dropSlots(unsigned thread) {
    CudaThread& state = threads_[thread];
    if (state.exchange != 0)
        --slotUsers_[warpOf(thread)][state.exchange];
    state.exchange = 0;
}

const unsigned char* CudaBlock::exchange(std::uint32_t mask, const void* value, unsigned bytes,
                                         std::uint32_t& arrived, Site site) {
    const unsigned warpIndex = warpOf(running_);
    Warp& warp = warps_[warpIndex];
    const unsigned lane = running_ % warpLanes;
    CudaThread& thread = threads_[running_];
    dropSlots(running_);
    if ((mask >> lane & 1u) == 0) {
        launch_.reportForeignMask(*this, running_, mask, site);
        mask |= 1u << lane;
    }
    auto group = std::find_if(warp.forming.begin(), warp.forming.end(),
                              [&](const Warp::Group& other) { return other.mask == mask; });
    if (group == warp.forming.end()) {
        const std::uint8_t slots = takeSlots(warp);
        group = warp.forming.insert(warp.forming.end(), {mask, 0, slots});
    }
    group->arrived |= 1u << lane;
    thread.exchange = group->slots;
    ++slotUsers_[warpIndex][group->slots];
    ExchangeSlots& slots = launch_.exchangeSlots(*this, warpIndex, group->slots);
    if (value != nullptr)
        std::memcpy(slots.values[lane].data(), value, std::min(bytes, 16u));
    thread.warpMask = mask;
    thread.state = ThreadState::AtWarpExchange;
    thread.site = site;
    completeGroups(warpIndex);
    if (thread.state != ThreadState::Ready)
        launch_.switchBack();
    arrived = thread.result;
    return slots.values[0].data();
}

void CudaBlock::completeGroups(unsigned warpIndex) {
    Warp& warp = warps_[warpIndex];
    const std::uint32_t live = warp.members & ~warp.exited;
    for (std::size_t i = 0; i < warp.forming.size();) {
        const Warp::Group group = warp.forming[i];
        if ((group.mask & live & ~group.arrived) != 0 || (group.arrived & live) == 0) {
            ++i;
            continue;
        }
        Site site = 0;
        for (std::uint32_t rest = group.arrived & live; rest != 0; rest &= rest - 1) {
            const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
            CudaThread& thread = threads_[warpIndex * warpLanes + lane];
            thread.state = ThreadState::Ready;
            thread.result = group.arrived;
            if (site != 0 && thread.site != site)
                launch_.reportBarrierDivergence(*this, warpIndex * warpLanes + lane, thread.site,
                                                warpIndex * warpLanes, site, true);
            site = thread.site;
        }
        warp.forming.erase(warp.forming.begin() + static_cast<std::ptrdiff_t>(i));
        launch_.warpBarrierPassed(warpIndex, group.arrived & live, (live & ~group.arrived) == 0,
                                  site);
    }
}

std::uint32_t CudaBlock::activeMask(Site site) {
    wait(ThreadState::AtActiveMask, site);
    return threads_[running_].result;
}

/// No lane of the warp can run: the lanes that ask at the same place are the active ones there.
bool CudaBlock::resolveActiveMasks(unsigned warp) {
    const unsigned first = warp * warpLanes;
    const unsigned end =
        std::min<unsigned>(first + warpLanes, static_cast<unsigned>(threads_.size()));
    for (unsigned thread = first; thread < end; ++thread) {
        if (threads_[thread].state != ThreadState::AtActiveMask)
            continue;
        const Site site = threads_[thread].site;
        std::uint32_t mask = 0;
        for (unsigned other = thread; other < end; ++other) {
            if (threads_[other].state == ThreadState::AtActiveMask && threads_[other].site == site)
                mask |= 1u << (other % warpLanes);
        }
        for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            CudaThread& asking = threads_[first + static_cast<unsigned>(std::countr_zero(rest))];
            asking.state = ThreadState::Ready;
            asking.result = mask;
        }
        return true;
    }
    return false;
}

std::string CudaBlock::waitingThreads() const {
    struct Place {
        ThreadState state;
        Site site;
        std::uint32_t mask;
        unsigned warp; ///< Only for a warp operation.
        auto operator<=>(const Place&) const = default;
    };
    std::map<Place, std::vector<unsigned>> places;
    std::size_t exited = 0;
    for (unsigned i = 0; i < threads_.size(); ++i) {
        const CudaThread& thread = threads_[i];
        const bool isInWarpOperation = thread.state == ThreadState::AtWarpExchange;
        const bool runs = thread.state == ThreadState::Ready || thread.state == ThreadState::Fresh;
        if (thread.state == ThreadState::Exited)
            ++exited;
        else // A running thread has left the place where it last waited.
            places[{thread.state, runs ? 0 : thread.site, isInWarpOperation ? thread.warpMask : 0,
                    isInWarpOperation ? warpOf(i) : 0}]
                .push_back(i);
    }
    std::string text;
    for (const auto& [place, waiting] : places) {
        text += fmt::format("{}{} of {} threads {}", text.empty() ? "" : "; ", waiting.size(),
                            threads_.size(), whatFor(waiting.front()));
        if (place.site == 0)
            continue;
        const KsIndex one = threads_[waiting.front()].index;
        text += fmt::format(" at {}, ({},{},{}) the first of them", siteReference(place.site),
                            one.x, one.y, one.z);
    }
    if (exited != 0)
        text += fmt::format("; {} have exited", exited);
    return text;
}

std::string CudaBlock::whatFor(unsigned thread) const {
    const CudaThread& state = threads_[thread];
    switch (state.state) {
    case ThreadState::Fresh:
        return "have not begun";
    case ThreadState::AtBarrier:
        return fmt::format("wait at the block's barrier for the other {}", live_ - atBarrier_);
    case ThreadState::AtNamedBarrier: {
        const auto arrived = namedArrivals_.find(state.barrierName);
        return fmt::format("wait at barrier {}, which {} of {} threads have reached,",
                           state.barrierName, arrived == namedArrivals_.end() ? 0 : arrived->second,
                           state.barrierThreads);
    }
    case ThreadState::AtGridBarrier:
        return "wait at the grid's barrier";
    case ThreadState::AtWarpExchange: {
        const Warp& warp = warps_[warpOf(thread)];
        const auto group = std::ranges::find(warp.forming, state.warpMask, &Warp::Group::mask);
        const std::uint32_t missing = group == warp.forming.end() ? 0
                                                                  : group->mask & ~group->arrived &
                                                                        warp.members & ~warp.exited;
        return fmt::format("wait in a warp operation of mask 0x{:08x} for {} other lanes, lane {} "
                           "first,",
                           state.warpMask, std::popcount(missing), std::countr_zero(missing));
    }
    default:
        return "run";
    }
}

void CudaBlock::deadlock() {
    Site site = 0;
    for (const CudaThread& thread : threads_) {
        if (thread.state != ThreadState::Exited && site == 0)
            site = thread.site;
    }
    launch_.fail({ErrorKind::Failed,
                  fmt::format("deadlock in block ({},{},{}): {}", index_.x, index_.y, index_.z,
                              waitingThreads()),
                  "", "make every thread that a barrier or a warp operation waits for reach it",
                  site});
}

} // namespace kernelskill::engine::emulator
