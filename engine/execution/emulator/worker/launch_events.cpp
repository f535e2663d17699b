// The part of Launch that runs on fibers: switching, logging, and reports of threads.
#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/launch.h"

#include <boost/context/detail/fcontext.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>

namespace kernelskill::engine::emulator {

namespace context = boost::context::detail;

namespace {

Dim3 dimOf(KsIndex index) {
    return {index.x, index.y, index.z};
}

/// The maximum number of intervals that a part touched. More are expensive to send.
constexpr std::size_t maxPartIntervals = 200'000;

struct FiberStart {
    Launch* launch = nullptr;
    void** arguments = nullptr;
    LoadedImage::Entry entry = nullptr;
    void** scheduler = nullptr;
};

/// The code of a fiber: runs one CUDA thread, and the next ones that need no fiber of their own.
void runThreads(context::transfer_t transfer) {
    const FiberStart start = *static_cast<FiberStart*>(transfer.data);
    *start.scheduler = transfer.fctx;
    do {
        start.entry(start.arguments);
    } while (start.launch->block().goOnWithNextThread());
    start.launch->switchBack();
}

} // namespace

void Launch::startFiber(CudaThread& thread) {
    thread.stack = stacks_.take();
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const top = reinterpret_cast<void*>(stacks_.top(thread.stack));
    thread.context = context::make_fcontext(top, FiberStacks::stackBytes, runThreads);
}

void Launch::endFiber(CudaThread& thread) {
    stacks_.giveBack(thread.stack);
}

void* Launch::switchTo(void* context) {
    FiberStart start{this, arguments_, image_.entry(), &schedulerContext_};
    return context::jump_fcontext(context, &start).fctx;
}

void Launch::switchBack() {
    schedulerContext_ = context::jump_fcontext(schedulerContext_, nullptr).fctx;
}

void Launch::drainLog(Warp& warp, std::uint32_t unfinished) {
    std::uint64_t logged = 0;
    for (const std::uint32_t count : log_.counts)
        logged += count;
    const Site last = lastSite();
    if (last != 0)
        lastEvent_ = {last, current_->runningThread()};
    if (logged == 0) {
        // Nothing is counted; only the time may be up.
    } else if (job_.wantProfile) {
        trace_->drain(log_, warp, unfinished);
        for (const std::uint32_t count : log_.counts)
            logged -= count;
    } else {
        if (observer_ != nullptr)
            observer_(*this, log_);
        log_.counts.fill(0);
    }
    events_ += logged;
    if (events_ > job_.limits.accesses) {
        cutOff(fmt::format("cut off after {} memory accesses and branches", job_.limits.accesses),
               last);
    }
    if (timeIsUp_)
        cutOff(fmt::format("cut off after {} ms of processor time", job_.limits.time.count()),
               last);
}

void Launch::logFull(bool isAccess) {
    checker_.settleStore();
    const EventRow* const end = log_.rows.data() + EventLog::capacity;
    hookState.limit = log_.rows.data() + EventLog::capacity;
    if (interruptEvery_ != 0 && !isAccess && hookState.row + 1 < end)
        hookState.limit = hookState.row + 1; // The next event may be an access.
    if (isAccess && interruptEvery_ != 0 && hookState.row != end) {
        constexpr std::uint64_t turnsOfWarps = 4; // So many for one of a block.
        interruption_ =
            random_() % turnsOfWarps == 0 ? Interruption::OfBlock : Interruption::OfWarp;
        current_->yield();
    }
    while (hookState.row == end)
        current_->yield();
}

void Launch::prepareAtomic() {
    // The prelude's own basic blocks lie between them.
    constexpr std::ptrdiff_t needed = 16;
    const EventRow* const end = log_.rows.data() + EventLog::capacity;
    while (end - hookState.row < needed)
        current_->yield();
}

void Launch::armInterruption() {
    const std::uint64_t steps = 1 + random_() % (2 * std::uint64_t{interruptEvery_});
    const auto room = static_cast<std::uint64_t>(hookState.limit - hookState.row);
    if (steps < room)
        hookState.limit = hookState.row + steps;
}

void Launch::volatileAccess() {
    races_.sawVolatile();
    // Lanes that communicate in lock-step would lose it.
    interruptEvery_ = 0;
    current_->yield();
}

void Launch::misaligned(EventKind kind, std::uint64_t address, unsigned bytes,
                        const void* returnAddress) {
    checker_.misaligned(kind, address, bytes,
                        reinterpret_cast<std::uint64_t>(returnAddress) - 1 - image_.base());
}

void Launch::beginCopy(std::uint64_t address, const void* value, unsigned bytes, Site site) {
    AsyncCopy copy{address, bytes, hookState.thread, site, {}};
    std::memcpy(copy.value.data(), value, bytes);
    currentLive_->copies.begin(copy);
    checker_.copyBegins(address, bytes);
}

void Launch::commitCopies() {
    currentLive_->copies.commit(hookState.thread);
}

void Launch::awaitCopies(std::size_t pending) {
    for (const AsyncCopy& copy : currentLive_->copies.arrive(hookState.thread, pending))
        checker_.copyArrives(copy);
}

void Launch::blockBarrierPassed(Site site) {
    checker_.settleUninitialised();
    races_.blockBarrier();
    trace_->count(site, Counter::Barriers);
}

void Launch::partialBarrierPassed(std::span<const unsigned> threads, Site site) {
    races_.partialBarrier(threads);
    trace_->count(site, Counter::Barriers);
}

void Launch::warpBarrierPassed(unsigned warp, std::uint32_t lanes, bool all, Site site) {
    races_.warpBarrier(warp, lanes, all);
    trace_->count(site, Counter::WarpOperations);
}

void Launch::reportBarrierDivergence(const CudaBlock& block, unsigned thread, Site site,
                                     unsigned other, Site otherSite, bool certain) {
    if (!job_.wantHazards || !hazards_.isNew(HazardKind::BarrierDivergence, site, otherSite))
        return;
    const KsIndex index = block.threadIndex(thread);
    const KsIndex otherIndex = block.threadIndex(other);
    const KsIndex blockIndex = block.index();
    HazardDetails details;
    details.other = ThreadPlace{dimOf(blockIndex), dimOf(otherIndex)};
    hazards_.add({HazardKind::BarrierDivergence, certain, site, otherSite,
                  fmt::format("thread ({},{},{}) of block ({},{},{}) waits at {} while thread "
                              "({},{},{}) of it waits at {}",
                              index.x, index.y, index.z, blockIndex.x, blockIndex.y, blockIndex.z,
                              siteReference(site), otherIndex.x, otherIndex.y, otherIndex.z,
                              siteReference(otherSite)),
                  dimOf(blockIndex), dimOf(index), std::move(details)});
}

void Launch::reportMissedBarrier(const CudaBlock& block, unsigned thread, Site site,
                                 std::size_t ended) {
    if (!job_.wantHazards || !job_.wantTolerated ||
        !hazards_.isNew(HazardKind::BarrierDivergence, site, 0))
        return;
    const KsIndex index = block.threadIndex(thread);
    const KsIndex blockIndex = block.index();
    hazards_.add(
        {HazardKind::BarrierDivergence,
         false,
         site,
         0,
         fmt::format("thread ({},{},{}) of block ({},{},{}) waits at a barrier that {} "
                     "threads of the block have ended without",
                     index.x, index.y, index.z, blockIndex.x, blockIndex.y, blockIndex.z, ended),
         dimOf(blockIndex),
         dimOf(index),
         {}});
}

void Launch::reportForeignMask(const CudaBlock& block, unsigned thread, std::uint32_t mask,
                               Site site) {
    if (!job_.wantHazards || !hazards_.isNew(HazardKind::BarrierDivergence, site, 0))
        return;
    const KsIndex index = block.threadIndex(thread);
    const KsIndex blockIndex = block.index();
    hazards_.add({HazardKind::BarrierDivergence,
                  true,
                  site,
                  0,
                  fmt::format("thread ({},{},{}) of block ({},{},{}) is lane {}, which the mask "
                              "0x{:08x} of its warp operation leaves out",
                              index.x, index.y, index.z, blockIndex.x, blockIndex.y, blockIndex.z,
                              thread % warpLanes, mask),
                  dimOf(blockIndex),
                  dimOf(index),
                  {}});
}

ExchangeSlots& Launch::exchangeSlots(const CudaBlock& /*block*/, unsigned warp,
                                     std::uint8_t index) {
    const std::uint64_t warps = (job_.launch.block.count() + warpLanes - 1) / warpLanes;
    const std::uint64_t place =
        ((currentLive_->place * warps + warp) * exchangeSlotCount + index) * sizeof(ExchangeSlots);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return *reinterpret_cast<ExchangeSlots*>(exchange_.low() + place);
}

void* Launch::dynamicShared() {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<void*>(currentLive_->shared.dynamic().low);
}

void* Launch::allocate(std::size_t bytes) {
    dependOnOtherBlocks();
    constexpr std::uint64_t alignment = 16;
    const std::uint64_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
    if (rounded < bytes || rounded > heap_.bytes() - heapUsed_)
        return nullptr;
    heapUsed_ += rounded;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<void*>(heap_.low() + heapUsed_ - rounded);
}

void Launch::print(std::string_view text) {
    dependOnOtherBlocks();
    const std::uint64_t room =
        job_.limits.outputBytes - std::min<std::uint64_t>(printed_.size(), job_.limits.outputBytes);
    if (text.size() > room && !printedTooMuch_) {
        printedTooMuch_ = true;
        notes_.push_back(
            fmt::format("printf's output was cut off after {} bytes", job_.limits.outputBytes));
    }
    printed_ += text.substr(0, room);
}

std::uint64_t Launch::eventsSoFar() const {
    return events_ + static_cast<std::uint64_t>(hookState.row - log_.rows.data());
}

Site Launch::lastSite() const {
    if (current_ == nullptr)
        return 0;
    const EventRow* const first = log_.rows.data();
    if (hookState.row > first + EventLog::capacity)
        return 0;
    for (const EventRow* row = hookState.row; row > first; --row) {
        const Event event{row[-1].words[hookState.lane], 0};
        if (event.kind() != EventKind::ForeignBlock) // Foreign blocks are on no line of the user's.
            return event.site();
    }
    return 0;
}

Dim3 Launch::startedBlock(std::uint64_t before) const {
    const Dim3& grid = job_.launch.grid;
    const std::uint64_t linear = sample_.empty() ? 0 : sample_[before % sample_.size()];
    return {static_cast<std::uint32_t>(linear % grid.x),
            static_cast<std::uint32_t>(linear / grid.x % grid.y),
            static_cast<std::uint32_t>(linear / grid.x / grid.y)};
}

std::string Launch::runningThread() const {
    return threadOfBlock(current_->runningThread());
}

std::string Launch::threadOfBlock(unsigned number) const {
    const KsIndex block = current_->index();
    const KsIndex thread = current_->threadIndex(number);
    return fmt::format("thread ({},{},{}) of block ({},{},{})", thread.x, thread.y, thread.z,
                       block.x, block.y, block.z);
}

void Launch::cutOff(const std::string& why, Site site, Site otherwise) {
    std::string what = why;
    if (current_ != nullptr) {
        unsigned thread = current_->runningThread();
        if (site == 0 && lastEvent_.site != 0) {
            site = lastEvent_.site;
            thread = lastEvent_.thread;
        }
        if (site == 0)
            site = otherwise;
        what += fmt::format(": {} was at {}", threadOfBlock(thread), siteReference(site));
        what += "; " + current_->waitingThreads();
        if (blocksBegun_ < sample_.size())
            what += fmt::format("; {} of {} blocks have not begun: they run one after the other",
                                sample_.size() - blocksBegun_, sample_.size());
    }
    fail({ErrorKind::Failed, std::move(what), "",
          "look for a loop there that does not end, or launch a smaller problem", site, true});
}

void Launch::fail(WorkerFailure failure) {
    WorkerReport result = report();
    result.failure = std::move(failure);
    channel_.finish(result);
}

WorkerReport Launch::report() const {
    WorkerReport result;
    result.hazards = hazards_.hazards();
    result.printed = printed_;
    result.notes = notes_;
    result.outputs = outputs_;
    result.blocksRun = blocksRun_;
    result.contentions = checker_.contentions();
    result.conditions = image_.conditions();
    for (const DeviceMemory::Buffer& buffer : memory_.buffers())
        result.extents.push_back(DeviceMemory::extentOf(buffer));
    if (part_)
        result.part = partFindings();
    if (job_.wantProfile && trace_) {
        result.sites = part_ ? trace_->allSites() : trace_->sites();
        image_.addArithmetic(result.sites);
        if (!part_ && !sample_.empty())
            scaleCounts(result, job_.launch, sample_.size());
        for (const auto& [site, counters] : result.sites)
            result.totals += counters;
    }
    return result;
}

void Launch::refusePart() const {
    WorkerReport result;
    result.part.emplace().needsOthers = true;
    channel_.finish(result);
}

PartFindings Launch::partFindings() const {
    PartFindings part;
    part.makesOrder = races_.sawOrder();
    part.firstTouches = trace_->firstTouches();
    part.branches = trace_->branches();
    part.needsOthers = races_.isExhausted() || part.firstTouches.size() > maxPartIntervals ||
                       !memory_.findTouched(maxPartIntervals, part.written, part.read);
    return part;
}

} // namespace kernelskill::engine::emulator
