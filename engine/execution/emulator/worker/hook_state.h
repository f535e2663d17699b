/// What the instrumentation touches at each access of a kernel.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/emulator/worker/event_log.h"

#include <cstdint>

namespace kernelskill::engine::emulator {

class Launch;
class MemoryChecker;
class RaceDetector;

/// Memory whose accesses the race detector follows, a cell for each 4 bytes.
struct FollowedRange {
    AddressRange range;
    /// The cell of a whole word lies at four times its address plus this, modulo 2^64.
    std::uint64_t cellShift = 0;
};

struct HookState {
    EventRow* row = nullptr;   ///< Where the running thread's next event goes.
    EventRow* limit = nullptr; ///< Reaching it takes the slow path.
    std::uint64_t imageBase = 0;
    unsigned thread = 0; ///< Linear, in its block.
    unsigned lane = 0;
    MemoryChecker* checker = nullptr;
    RaceDetector* races = nullptr;
    AddressRange buffers; ///< All of them.
    /// Of the running block. Empty where no hazards are wanted.
    FollowedRange staticShared;
    FollowedRange dynamicShared;
    /// Memory that is not the kernel's: stacks of fibers, slots of exchanges, arguments. In one
    /// reservation each, and seldom another.
    AddressRange stacks{0, ~std::uint64_t{0}}; ///< Until a launch is laid out nothing counts.
    AddressRange exchange;
    AddressRange arguments;
    AddressRange builtins; ///< threadIdx and its kin.
    Launch* launch = nullptr;
};

/// The instrumentation is plain functions without a context argument, called by compiled code that
/// knows nothing of us, in a process that runs one launch: this is the one place where they can
/// find it.
[[gnu::visibility("hidden")]] extern constinit HookState hookState;

} // namespace kernelskill::engine::emulator
