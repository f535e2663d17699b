/// Runs one CUDA block: its threads, warps and barriers.
///
/// Threads run on fibers, warp by warp and lane by lane, each until it waits for others, ends or
/// yields. Only the block changes their states; requests of a thread arrive through Launch.
#pragma once

#include "analysis/prelude/include/kernelskill/emulation_abi.h"
#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker/event_log.h"
#include "engine/execution/job.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine::emulator {

inline constexpr unsigned maxBlockThreads = 1024;
inline constexpr unsigned noStack = 0xffffffffu;

enum class ThreadState : std::uint8_t {
    Fresh, ///< Not started, without a stack.
    Ready,
    AtBarrier,
    AtNamedBarrier,
    AtGridBarrier,
    AtWarpExchange,
    AtActiveMask,
    Exited,
};

struct alignas(64) CudaThread {
    void* context = nullptr; ///< The context in which the fiber continues.
    std::uint32_t stack = noStack;
    ThreadState state = ThreadState::Fresh;
    Site site = 0; ///< The site of the operation in which it waits.
    KsBarrierKind barrierKind = KsBarrierPlain;
    unsigned barrierName = 0;
    unsigned barrierThreads = 0; ///< The number of threads that the named barrier waits for.
    std::uint32_t warpMask = 0;  ///< The mask of the exchange in which it waits.
    std::uint32_t result = 0;    ///< The result of that operation.
    /// Index of the slots that it deposited into and may still read; 0 means none.
    std::uint8_t exchange = 0;
    KsIndex index{};
};

/// The slots of one exchange among lanes. Instrumented code may read them without being counted.
struct ExchangeSlots {
    std::array<std::array<unsigned char, 16>, warpLanes> values;
};
inline constexpr std::size_t exchangeSlotCount = 80; // 32 held, 32 forming, and a reserve.

struct Warp {
    std::uint32_t members = 0; ///< The lanes that exist.
    std::uint32_t exited = 0;
    struct Group {
        std::uint32_t mask = 0;
        std::uint32_t arrived = 0;
        std::uint8_t slots = 0;
    };
    std::vector<Group> forming;
    // For branch tracing: the mask and the place of each lane's last basic block.
    std::array<std::uint32_t, warpLanes> branchMask{};
    std::array<std::uint32_t, warpLanes> branchSite{};
};

class Launch;

class CudaBlock {
public:
    CudaBlock(Launch& launch, KsIndex extent, const Schedule& schedule);

    /// Starts the block at `index`. The previous block has finished.
    void begin(KsIndex index);

    enum class Outcome : std::uint8_t { Finished, AtGridBarrier, Interrupted };
    /// Runs until every thread has exited or waits at the grid barrier, or the launch interrupts
    /// the block. Does not return from a deadlock.
    Outcome run();
    void leaveGridBarrier();

    // Called on the fiber of the running thread:
    int barrier(KsBarrierKind kind, int predicate, Site site);
    void namedBarrier(unsigned name, unsigned count, Site site);
    void gridBarrier(Site site);
    const unsigned char* exchange(std::uint32_t mask, const void* value, unsigned bytes,
                                  std::uint32_t& arrived, Site site);
    std::uint32_t activeMask(Site site);
    /// Lets other lanes run first.
    void yield();
    /// Called at the end of the running thread's code. Returns true if the same fiber now runs the
    /// warp's next thread: most threads never wait, and need no fiber of their own.
    bool goOnWithNextThread();

    [[nodiscard]] KsIndex index() const { return index_; }
    [[nodiscard]] unsigned runningThread() const { return running_; }
    [[nodiscard]] KsIndex threadIndex(unsigned thread) const { return threads_[thread].index; }
    [[nodiscard]] std::size_t threadCount() const { return threads_.size(); }
    /// "16 of 64 threads wait at the block's barrier at <site>, (0,0,0) the first of them; ...":
    /// the diagnosis of a block that cannot continue.
    [[nodiscard]] std::string waitingThreads() const;

private:
    [[nodiscard]] unsigned warpOf(unsigned thread) const { return thread / warpLanes; }
    /// Chooses the order of warps and lanes for the block at index_.
    void arrange();
    bool runWarp(unsigned warp);
    /// Runs the thread, and on its fiber the next ones as long as each ends. Returns the last one.
    unsigned resume(unsigned thread);
    void threadExited(unsigned thread);
    void wait(ThreadState state, Site site);
    void releaseBarrierIfComplete();
    void reportBarrierDivergence();
    void releaseNamedBarrierIfComplete(unsigned name, unsigned count);
    void completeGroups(unsigned warp);
    bool resolveActiveMasks(unsigned warp);
    std::uint8_t takeSlots(Warp& warp);
    void dropSlots(unsigned thread);
    /// "wait at the block's barrier for the other 3", for a thread that has not exited.
    [[nodiscard]] std::string whatFor(unsigned thread) const;
    [[noreturn]] void deadlock();

    Launch& launch_;
    Schedule schedule_;
    KsIndex index_{};
    std::vector<unsigned> warpOrder_;
    std::array<std::uint8_t, warpLanes> laneOrder_{};
    std::array<std::uint8_t, warpLanes> lanePlace_{}; ///< The place of each lane in laneOrder_.
    std::vector<CudaThread> threads_;
    std::vector<Warp> warps_;
    std::vector<std::array<std::uint8_t, exchangeSlotCount>> slotUsers_; ///< Per warp.
    unsigned running_ = 0;
    unsigned live_ = 0;
    unsigned atBarrier_ = 0;
    unsigned atGridBarrier_ = 0;
    unsigned barrierPredicates_ = 0;
    std::map<unsigned, unsigned> namedArrivals_;

    static void fiberMain(void* transfer);
    friend class Launch;
};

} // namespace kernelskill::engine::emulator
