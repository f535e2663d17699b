/// The path of every access of a kernel: skip what is private to the thread, log, check.
#pragma once

#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/launch.h"

#include <cstdint>

namespace kernelskill::engine::emulator {

/// Tells the race detector that blocks or warps may be talking through an atomic.
void noteAtomic();

/// Whether the address is the running thread's own: local memory, parameters, built-in variables.
[[gnu::always_inline]] inline bool isPrivate(std::uint64_t address) {
    return hookState.stacks.contains(address) || hookState.builtins.contains(address) ||
           hookState.exchange.contains(address) || hookState.arguments.contains(address);
}

template <EventKind kind>
[[gnu::always_inline]] inline std::uint32_t logEvent(std::uint64_t address, unsigned bytes,
                                                     const void* returnAddress) {
    if (hookState.cursor == hookState.limit) [[unlikely]]
        hookState.launch->logFull();
    const auto site = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(returnAddress) -
                                                 1 - hookState.imageBase);
    *hookState.cursor++ = {Event::pack(site, bytes, kind), address};
    return site;
}

/// What is neither in a buffer nor in shared memory.
template <EventKind kind>
[[gnu::noinline]] void onOtherAccess(std::uint64_t address, unsigned bytes,
                                     const void* returnAddress) {
    if (isPrivate(address))
        return;
    const std::uint32_t site = logEvent<kind>(address, bytes, returnAddress);
    hookState.checker->elsewhere(kind, address, bytes, site);
}

template <EventKind kind>
[[gnu::always_inline]] inline void onAccess(const void* pointer, unsigned bytes,
                                            const void* returnAddress, bool isVolatile = false) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (hookState.buffers.contains(address)) {
        const std::uint32_t site = logEvent<kind>(address, bytes, returnAddress);
        hookState.checker->checkBuffer<kind>(address, bytes, site, hookState.thread, isVolatile);
    } else if (hookState.launch != nullptr && hookState.checker->isShared(address)) {
        const std::uint32_t site = logEvent<kind>(address, bytes, returnAddress);
        hookState.checker->checkShared<kind>(address, bytes, site, hookState.thread, isVolatile);
    } else {
        onOtherAccess<kind>(address, bytes, returnAddress);
    }
}

} // namespace kernelskill::engine::emulator
