// Defines the functions of kernelskill/emulation_abi.h, which kernels call.
#include "analysis/prelude/include/kernelskill/emulation_abi.h"
#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/instrumentation.h"
#include "engine/execution/emulator/worker/launch.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace emulator = kernelskill::engine::emulator;
using emulator::EventKind;
using emulator::hookState;
using emulator::onAccess;
using emulator::Site;
using kernelskill::ErrorKind;

namespace {

/// The call's own address, for which line tables give the line of the call.
[[gnu::always_inline]] inline Site callSite() {
    return reinterpret_cast<std::uint64_t>(__builtin_return_address(0)) - 1 - hookState.imageBase;
}

[[noreturn]] void endLaunch(ErrorKind kind, std::string what, std::string where, Site site) {
    hookState.launch->fail({kind, std::move(what), std::move(where), "", site});
}

emulator::SyncScope scopeOf(int scope) {
    return scope == KsScopeBlock ? emulator::SyncScope::Block : emulator::SyncScope::Device;
}

} // namespace

extern "C" {

// All are in one section, so that one comparison tells accesses to them from the kernel's own.
[[gnu::section("ks_builtins")]] KsIndex ks_threadIdx{};
[[gnu::section("ks_builtins")]] KsIndex ks_blockIdx{};
[[gnu::section("ks_builtins")]] KsIndex ks_blockDim{};
[[gnu::section("ks_builtins")]] KsIndex ks_gridDim{};

int ks_barrier(KsBarrierKind kind, int predicate) {
    return hookState.launch->block().barrier(kind, predicate, callSite());
}

void ks_named_barrier(unsigned name, unsigned threadCount) {
    hookState.launch->block().namedBarrier(name, threadCount, callSite());
}

bool ks_own_room(const void* before, const void* after, unsigned roomBytes) {
    if (hookState.launch != nullptr)
        for (const void* room : {before, after})
            hookState.launch->stacks().close(reinterpret_cast<std::uint64_t>(room), roomBytes);
    return true;
}

void ks_own_room_ends(const void* before, const void* after, unsigned roomBytes) {
    if (hookState.launch != nullptr)
        for (const void* room : {before, after})
            hookState.launch->stacks().open(reinterpret_cast<std::uint64_t>(room), roomBytes);
}

void ks_syncwarp(unsigned mask) {
    unsigned arrived = 0;
    hookState.launch->block().exchange(mask, nullptr, 0, arrived, callSite());
}

const unsigned char* ks_warp_exchange(unsigned mask, const void* value, unsigned bytes,
                                      unsigned* arrived) {
    return hookState.launch->block().exchange(mask, value, bytes, *arrived, callSite());
}

unsigned ks_active_mask(void) {
    return hookState.launch->block().activeMask(callSite());
}

unsigned ks_lane(void) {
    return hookState.thread % emulator::warpLanes;
}
unsigned ks_warp(void) {
    return hookState.thread / emulator::warpLanes;
}

void ks_atomic(const void* address, unsigned bytes, int scopeAndOrder) {
    emulator::SyncAccess access;
    access.scope = scopeOf(scopeAndOrder & KsScopeMask);
    access.acquires = (scopeAndOrder & KsAcquire) != 0;
    access.releases = (scopeAndOrder & KsRelease) != 0;
    access.writes = (scopeAndOrder & KsOnlyReads) == 0;
    access.reads = (scopeAndOrder & KsOnlyWrites) == 0;
    emulator::onAtomic(address, bytes, __builtin_return_address(0), access);
}

void ks_load(const void* address, unsigned bytes) {
    onAccess<EventKind::Load>(address, bytes, __builtin_return_address(0));
}

void ks_store(const void* address, unsigned bytes) {
    onAccess<EventKind::Store>(address, bytes, __builtin_return_address(0));
}

void ks_begin_copy(void* address, const void* value, unsigned bytes) {
    const auto at = reinterpret_cast<std::uint64_t>(address);
    if (!hookState.checker->isShared(at))
        endLaunch(ErrorKind::Failed,
                  fmt::format("{} copies asynchronously to memory that is not shared",
                              hookState.launch->runningThread()),
                  "", callSite());
    if (at % bytes != 0)
        hookState.launch->misaligned(EventKind::Store, at, bytes, __builtin_return_address(0));
    onAccess<EventKind::Store>(address, bytes, __builtin_return_address(0));
    hookState.launch->beginCopy(at, value, bytes, callSite());
}

void ks_commit_copies(void) {
    hookState.launch->commitCopies();
}

void ks_await_copies(size_t pending) {
    hookState.launch->awaitCopies(pending);
}

void ks_fence(int scope) {
    hookState.launch->fence(scopeOf(scope));
}

void* ks_dynamic_shared(void) {
    return hookState.launch->dynamicShared();
}

int ks_printf(const char* format, ...) {
    std::array<char, 4096> text;
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    if (length > 0) {
        hookState.launch->print(
            std::string_view(text.data(), std::min<std::size_t>(length, text.size() - 1)));
    }
    return length;
}

void* ks_malloc(size_t bytes) {
    return hookState.launch->allocate(bytes);
}
void ks_free(void* /*pointer*/) {
    // The device heap lives as long as the launch.
}

long long ks_clock(void) {
    return static_cast<long long>(hookState.launch->tick());
}

unsigned long long ks_global_timer(void) {
    return static_cast<unsigned long long>(
        std::chrono::steady_clock::now().time_since_epoch().count());
}

void ks_assert_failed(const char* expression, const char* file, unsigned line) {
    endLaunch(
        ErrorKind::Failed,
        fmt::format("assertion failed: {} ({})", expression, hookState.launch->runningThread()),
        fmt::format("{}:{}", file, line), callSite());
}

void ks_trap(void) {
    endLaunch(ErrorKind::Failed,
              fmt::format("{} executed __trap()", hookState.launch->runningThread()), "",
              callSite());
}

void ks_refuse(const char* feature) {
    // "<feature>@<file>:<line>" if the rewrite knows the line better than the line table.
    const std::string_view text = feature;
    const std::size_t at = text.rfind('@');
    endLaunch(ErrorKind::Unsupported,
              fmt::format("the emulator does not run {}", text.substr(0, at)),
              at == std::string_view::npos ? std::string() : std::string(text.substr(at + 1)),
              callSite());
}

void ks_grid_barrier(void) {
    hookState.launch->block().gridBarrier(callSite());
}

unsigned ks_pass(unsigned passes) {
    return hookState.launch->pass(passes);
}

} // extern "C"
