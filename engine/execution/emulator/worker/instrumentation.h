/// The path of every access of a kernel: skips thread-private memory, logs, and checks.
#pragma once

#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/launch.h"

#include <cstdint>

namespace kernelskill::engine::emulator {

/// Whether the address is private to the running thread: local memory, parameters, built-in
/// variables.
[[gnu::always_inline]] inline bool isPrivate(std::uint64_t address) {
    return hookState.stacks.contains(address) || hookState.builtins.contains(address) ||
           hookState.exchange.contains(address) || hookState.arguments.contains(address);
}

[[gnu::always_inline]] inline std::uint32_t siteOf(const void* returnAddress) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(returnAddress) - 1 -
                                      hookState.imageBase);
}

/// Precondition: the log has room.
template <EventKind kind>
[[gnu::always_inline]] inline void addEvent(std::uint32_t site, unsigned bytes,
                                            std::uint64_t address) {
    EventRow& row = *hookState.row++;
    row.words[hookState.lane] = Event::pack(site, bytes, kind);
    row.addresses[hookState.lane] = address;
}

template <EventKind kind>
[[gnu::always_inline]] inline std::uint32_t logEvent(std::uint64_t address, unsigned bytes,
                                                     const void* returnAddress) {
    if (hookState.row == hookState.limit) [[unlikely]]
        hookState.launch->logFull(kind != EventKind::BasicBlock && kind != EventKind::ForeignBlock);
    const std::uint32_t site = siteOf(returnAddress);
    addEvent<kind>(site, bytes, address);
    return site;
}

/// Notes what an atomic or volatile access orders. Called after it was logged: until then other
/// threads may run.
[[gnu::always_inline]] inline void synchronise(const SyncAccess* access) {
    if (access == nullptr)
        return;
    hookState.checker->synchronise(*access, hookState.thread);
    hookState.checker->setAtomicScope(access->scope);
}

/// Handles accesses outside buffers and shared memory.
template <EventKind kind>
[[gnu::noinline]] void onOtherAccess(std::uint64_t address, unsigned bytes,
                                     const void* returnAddress, bool isVolatile,
                                     const SyncAccess* access) {
    if (isPrivate(address)) {
        if (hookState.launch != nullptr && hookState.launch->stacks().isClosed(address, bytes))
            hookState.checker->besideOwnArray(bytes, siteOf(returnAddress));
        return;
    }
    const std::uint32_t site = logEvent<kind>(address, bytes, returnAddress);
    synchronise(access);
    hookState.checker->elsewhere(kind, address, bytes, site, hookState.thread, isVolatile);
}

/// Handles whole words of a block's shared memory if nothing about the access needs a further
/// check. Words that the block wrote are inside variables; there are cells a little beyond.
template <EventKind kind, unsigned bytes>
[[gnu::always_inline]] inline bool passShared(const FollowedRange& memory, std::uint64_t address,
                                              std::uint32_t site) {
    constexpr RaceAccess access = kind == EventKind::Load ? RaceAccess::Read : RaceAccess::Write;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const cells = reinterpret_cast<RaceDetector::Cell*>(address * 4 + memory.cellShift);
    for (unsigned i = 0; i < bytes / 4; ++i) {
        if (!hookState.races->wroteInBlock(cells[i]))
            return false;
    }
    return hookState.races->recordWords<access>(cells, bytes / 4, site, hookState.thread, false);
}

/// Logs and checks a usual access: aligned, of whole words, inside its object, ordered. Returns
/// false for any other access, without logging it. Calls no function, so that the hooks need no
/// frame.
template <EventKind kind, unsigned bytes>
[[gnu::always_inline]] inline bool passUsual(std::uint64_t address, const void* returnAddress) {
    static_assert(bytes % 4 == 0 && kind != EventKind::Atomic);
    if ((address & 3u) != 0 || hookState.row == hookState.limit) [[unlikely]]
        return false;
    const std::uint32_t site = siteOf(returnAddress);
    bool passed = false;
    if (hookState.buffers.contains(address))
        passed = hookState.checker->passBuffer<kind>(address, bytes, site, hookState.thread);
    else if (hookState.staticShared.range.contains(address))
        passed = passShared<kind, bytes>(hookState.staticShared, address, site);
    else if (hookState.dynamicShared.range.contains(address))
        passed = passShared<kind, bytes>(hookState.dynamicShared, address, site);
    if (!passed) [[unlikely]]
        return false;
    addEvent<kind>(site, bytes, address);
    return true;
}

template <EventKind kind>
[[gnu::always_inline]] inline void onAccess(const void* pointer, unsigned bytes,
                                            const void* returnAddress, bool isVolatile = false,
                                            const SyncAccess* access = nullptr) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (hookState.buffers.contains(address)) {
        const std::uint32_t site = logEvent<kind>(address, bytes, returnAddress);
        synchronise(access);
        hookState.checker->checkBuffer<kind>(address, bytes, site, hookState.thread, isVolatile);
    } else if (hookState.launch != nullptr && hookState.checker->isShared(address)) {
        const std::uint32_t site = logEvent<kind>(address, bytes, returnAddress);
        synchronise(access);
        hookState.checker->checkShared<kind>(address, bytes, site, hookState.thread, isVolatile);
    } else {
        onOtherAccess<kind>(address, bytes, returnAddress, isVolatile, access);
    }
}

/// An atomic read-modify-write that the compiled code performs next.
inline void onAtomic(const void* pointer, unsigned bytes, const void* returnAddress,
                     SyncAccess access) {
    access.address = reinterpret_cast<std::uint64_t>(pointer);
    if (isPrivate(access.address))
        return;
    hookState.launch->prepareAtomic();
    onAccess<EventKind::Atomic>(pointer, bytes, returnAddress, false, &access);
}

} // namespace kernelskill::engine::emulator
