/// Runs one launch of a kernel in this process: its blocks, their fibers, and what they showed.
#pragma once

#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker/async_copies.h"
#include "engine/execution/emulator/worker/cuda_block.h"
#include "engine/execution/emulator/worker/device_memory.h"
#include "engine/execution/emulator/worker/event_log.h"
#include "engine/execution/emulator/worker/fiber_stacks.h"
#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/loaded_image.h"
#include "engine/execution/emulator/worker/memory_checker.h"
#include "engine/execution/emulator/worker/report_channel.h"
#include "engine/execution/emulator/worker/warp_trace.h"
#include "engine/execution/emulator/worker/worker_main.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

extern "C" {
extern KsIndex ks_threadIdx;
}

namespace kernelskill::engine::emulator {

/// How far a thread that is interrupted steps back.
enum class Interruption : std::uint8_t { None, OfWarp, OfBlock };

class Launch {
public:
    /// Sets up memory and arguments. `image` and `channel` outlive the launch. With `part`, run()
    /// runs only some of the blocks, and reports whether they depend on others. `captured` is the
    /// result of openCaptured() for the job.
    [[nodiscard]] static Result<std::unique_ptr<Launch>>
    prepare(const Job& job, const LoadedImage& image, const ReportChannel& channel,
            std::optional<JobPart> part, CapturedContents captured);

    void observe(EventObserver observer) { observer_ = observer; }

    /// Runs every block, or the sampled ones, and reports. A run that ends early calls fail().
    [[nodiscard]] WorkerReport run();

    /// Reports the results so far and ends the process.
    [[noreturn]] void fail(WorkerFailure failure);
    /// Fails because the limit of time or accesses is reached, and names the place: `site`, else
    /// that of the last event, else `otherwise`.
    [[noreturn]] void cutOff(const std::string& why, Site site, Site otherwise = 0);

    // Called by CudaBlock.
    void startFiber(CudaThread& thread);
    void endFiber(CudaThread& thread);
    /// Called around the code of a thread: in between, its events go to its lane's log.
    void enterThread(unsigned thread, const KsIndex& index);
    void leaveThread();
    /// Returns the context in which the fiber continues when it is next switched to.
    [[nodiscard]] void* switchTo(void* context);
    void switchBack();
    /// Whether the running thread's warp or block is to step back.
    [[nodiscard]] bool isInterrupted() const { return interruption_ != Interruption::None; }
    [[nodiscard]] Interruption takeInterruption() {
        return std::exchange(interruption_, Interruption::None);
    }
    [[nodiscard]] bool hasLogRoom(unsigned lane) const {
        return log_.counts[lane] < EventLog::capacity;
    }
    void drainLog(Warp& warp, std::uint32_t unfinished);
    void blockBarrierPassed(Site site);
    void partialBarrierPassed(std::span<const unsigned> threads, Site site);
    /// `lanes` passed; `all`: no other lane of the warp is alive.
    void warpBarrierPassed(unsigned warp, std::uint32_t lanes, bool all, Site site);
    void reportBarrierDivergence(const CudaBlock& block, unsigned thread, Site site, unsigned other,
                                 Site otherSite, bool certain);
    /// Threads of the block, so many, have ended while this one waits.
    void reportMissedBarrier(const CudaBlock& block, unsigned thread, Site site, std::size_t ended);
    void reportForeignMask(const CudaBlock& block, unsigned thread, std::uint32_t mask, Site site);
    [[nodiscard]] ExchangeSlots& exchangeSlots(const CudaBlock& block, unsigned warp,
                                               std::uint8_t index);

    // Called by the kernel's functions, on the fiber of the running thread.
    [[nodiscard]] CudaBlock& block() { return *current_; }
    [[nodiscard]] MemoryChecker& checker() { return checker_; }
    /// The index of the block that was started after `before` others.
    [[nodiscard]] Dim3 startedBlock(std::uint64_t before) const;
    /// Called if the running thread's log is full, or something waits for its next event, which is
    /// an access or else a basic block.
    void logFull(bool isAccess);
    /// Called before an atomic: other threads run now if they might have to run between its
    /// announcement and the operation itself.
    void prepareAtomic();
    /// Lets the warp's other lanes reach the same volatile access.
    void volatileAccess();
    /// The next operation depends on other blocks: ends the run if it is a part.
    void dependOnOtherBlocks() {
        if (part_) [[unlikely]]
            refusePart();
    }
    /// Returns the number of the pass over the grid that runs, from 0 on; notes that the kernel
    /// asks for so many passes.
    [[nodiscard]] unsigned pass(unsigned passes) {
        passes_ = std::max(passes_, passes);
        return pass_;
    }
    void fence(SyncScope scope) { races_.fence(hookState.thread, scope); }
    void misaligned(EventKind kind, std::uint64_t address, unsigned bytes,
                    const void* returnAddress);
    /// Grows with each call and with the events of the launch.
    [[nodiscard]] std::uint64_t tick() {
        dependOnOtherBlocks();
        return eventsSoFar() + ++ticks_;
    }
    void* dynamicShared();
    /// Begins an asynchronous copy of the running thread. Its store is checked and logged: `value`
    /// is in shared memory after the copy was awaited.
    void beginCopy(std::uint64_t address, const void* value, unsigned bytes, Site site);
    void commitCopies();
    /// Waits for copies; the last `pending` groups of the running thread may remain in progress.
    void awaitCopies(std::size_t pending);
    [[nodiscard]] const AsyncCopy* copyUnderWayTo(std::uint64_t address, unsigned bytes) const {
        return currentLive_->copies.underWayTo(address, bytes);
    }
    void* allocate(std::size_t bytes);
    void print(std::string_view text);
    [[nodiscard]] std::uint64_t eventsSoFar() const;

    // Called by fault handlers. All are async-signal-safe except fail().
    [[nodiscard]] DeviceMemory& memory() { return memory_; }
    [[nodiscard]] const FiberStacks& stacks() const { return stacks_; }
    [[nodiscard]] FiberStacks& stacks() { return stacks_; }
    [[nodiscard]] const LoadedImage& image() const { return image_; }
    [[nodiscard]] bool running() const { return current_ != nullptr; }
    void timeIsUp() { timeIsUp_ = true; }
    /// The site of the running thread's last event; 0 if it has none.
    [[nodiscard]] Site lastSite() const;
    [[nodiscard]] const Job& job() const { return job_; }
    /// "thread (1,0,0) of block (2,0,0)"
    [[nodiscard]] std::string runningThread() const;
    /// The same for another thread of the running block.
    [[nodiscard]] std::string threadOfBlock(unsigned number) const;

private:
    struct LiveBlock {
        std::unique_ptr<CudaBlock> block;
        SharedMemory shared;
        AsyncCopies copies;
        std::uint32_t place = 0;  ///< The place of its exchange slots.
        std::uint32_t number = 0; ///< The race detector's.
        bool finished = false;
        bool waitsForGrid = false;
    };

    Launch(const Job& job, const LoadedImage& image, const ReportChannel& channel,
           std::optional<JobPart> part);
    [[nodiscard]] Result<void> layOut(CapturedContents captured);
    void passArguments();
    void fillSymbols();
    void noteFills();
    /// `live` may hold a finished block.
    [[nodiscard]] Result<void> start(std::uint64_t linearIndex, LiveBlock& live);
    /// Runs a block until it ends or waits at the grid barrier.
    void advance(LiveBlock& live);
    /// Fails if the outputs cannot be copied.
    void copyOutputs();
    void copyVariables();
    /// Runs all blocks, once for each pass.
    [[nodiscard]] Result<void> runPasses();
    /// Runs blocks one after the other, or all of a cooperative launch.
    [[nodiscard]] Result<void> runInOrder();
    [[nodiscard]] Result<void> runTogether(std::unique_ptr<LiveBlock> first, std::size_t next);
    /// Runs several blocks in turns, as the schedule's interruptions want it.
    [[nodiscard]] Result<void> runInTurns();
    /// Every block waits for the grid's barrier: fails if they are too many to live at once.
    void requireRoomForAll();
    void arrangeBlocks();
    /// Chooses the access before which the running thread is interrupted next.
    void armInterruption();
    [[nodiscard]] WorkerReport report() const;
    [[noreturn]] void refusePart() const;
    [[nodiscard]] PartFindings partFindings() const;

    Job job_;
    const LoadedImage& image_;
    const ReportChannel& channel_;
    std::optional<JobPart> part_;
    HazardLog hazards_;
    RaceDetector races_;
    DeviceMemory memory_;
    MemoryChecker checker_;
    FiberStacks stacks_;
    Reservation exchange_; ///< Exchange slots of all blocks, one after the other.
    Reservation argumentBlock_;
    Reservation heap_;
    std::uint64_t heapUsed_ = 0;
    void** arguments_ = nullptr;
    std::optional<WarpTrace> trace_;
    EventLog log_;
    std::vector<std::uint64_t> sample_;
    CudaBlock* current_ = nullptr;
    LiveBlock* currentLive_ = nullptr;
    void* schedulerContext_ = nullptr;
    std::uint64_t events_ = 0;
    std::uint64_t ticks_ = 0;
    std::uint64_t blocksBegun_ = 0;
    std::uint64_t blocksRun_ = 0;
    unsigned pass_ = 0;
    unsigned passes_ = 1;
    bool timeIsUp_ = false;
    std::uint32_t interruptEvery_ = 0; ///< 0: threads are not interrupted.
    Interruption interruption_ = Interruption::None;
    std::mt19937_64 random_;
    /// The last event when the log was drained, and its thread.
    struct LastEvent {
        Site site = 0;
        unsigned thread = 0;
    } lastEvent_;
    EventObserver observer_ = nullptr;
    std::string printed_;
    bool printedTooMuch_ = false;
    std::vector<std::string> notes_;
    std::vector<BufferContents> outputs_;
};

inline void Launch::enterThread(unsigned thread, const KsIndex& index) {
    const unsigned lane = thread % warpLanes;
    hookState.row = log_.rows.data() + log_.counts[lane];
    hookState.limit = log_.rows.data() + EventLog::capacity;
    hookState.thread = thread;
    hookState.lane = lane;
    ks_threadIdx = index;
    if (interruptEvery_ != 0) [[unlikely]]
        armInterruption();
}

inline void Launch::leaveThread() {
    log_.counts[hookState.lane] = static_cast<std::uint32_t>(hookState.row - log_.rows.data());
    if (checker_.awaitsStore()) [[unlikely]]
        checker_.settleStore();
}

} // namespace kernelskill::engine::emulator
