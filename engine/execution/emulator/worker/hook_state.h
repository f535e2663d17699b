/// The state that the instrumentation uses at each access of a kernel.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/emulator/worker/event_log.h"

#include <cstdint>

namespace kernelskill::engine::emulator {

class Launch;
class MemoryChecker;
class RaceDetector;

/// Memory whose accesses the race detector follows, with a cell for each 4 bytes.
struct FollowedRange {
    AddressRange range;
    /// The cell of a whole word is at four times its address plus this value, modulo 2^64.
    std::uint64_t cellShift = 0;
};

struct HookState {
    EventRow* row = nullptr;   ///< The place of the running thread's next event.
    EventRow* limit = nullptr; ///< When it is reached, the slow path runs.
    std::uint64_t imageBase = 0;
    unsigned thread = 0; ///< The linear index in its block.
    unsigned lane = 0;
    MemoryChecker* checker = nullptr;
    RaceDetector* races = nullptr;
    AddressRange buffers; ///< The range of all buffers.
    /// The running block's shared memory; empty if no hazards are requested.
    FollowedRange staticShared;
    FollowedRange dynamicShared;
    /// Memory that does not belong to the kernel: stacks of fibers, slots of exchanges, arguments.
    /// Each is one reservation, and few others are accessed.
    AddressRange stacks{0, ~std::uint64_t{0}}; ///< Before a launch is set up, nothing is counted.
    AddressRange exchange;
    AddressRange arguments;
    AddressRange builtins; ///< threadIdx and similar variables.
    Launch* launch = nullptr;
};

/// The instrumentation consists of plain functions without a context argument, called by compiled
/// code. The process runs one launch, so this global variable is the only place for their state.
[[gnu::visibility("hidden")]] extern constinit HookState hookState;

} // namespace kernelskill::engine::emulator
