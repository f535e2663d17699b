/// The contract between a kernel compiled for the CPU and the emulator worker that runs it.
///
/// The prelude's device functions, compiled with KERNELSKILL_EMULATION defined, call these; the worker
/// (engine/execution/emulator/worker) defines them. Plain C types only: the header is compiled into the
/// user's kernel with any host compiler from C++14 on.
///
/// Every function is called on the fiber of one CUDA thread. "Lane" is the thread's index in its warp.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Index triple with the layout of CUDA's uint3 and dim3.
struct KsIndex {
    unsigned x, y, z;
};

/// Built-in variables of the running thread. The worker rewrites them before it resumes a fiber, so a
/// fiber always reads its own values.
extern struct KsIndex ks_threadIdx, ks_blockIdx, ks_blockDim, ks_gridDim;

enum KsBarrierKind { KsBarrierPlain = 0, KsBarrierCount = 1, KsBarrierAnd = 2, KsBarrierOr = 3 };

/// __syncthreads and its variants: returns when all live threads of the block have arrived.
/// The result is the count / conjunction / disjunction of `predicate`; 0 for the plain kind.
int ks_barrier(enum KsBarrierKind kind, int predicate);

/// A barrier among the first `threadCount` arrivals at barrier `name` (bar.sync name, threadCount;
/// threadCount is a multiple of 32).
void ks_named_barrier(unsigned name, unsigned threadCount);

/// __syncwarp: returns when every live lane of `mask` has arrived.
void ks_syncwarp(unsigned mask);

/// The primitive of shuffles, votes, matches and reductions. Deposits `bytes` (at most 16) bytes of `value`,
/// waits for every live lane of `mask`, and returns 32 slots of 16 bytes, one per lane. `*arrived` is the set
/// of lanes that deposited. The slots stay valid until this lane's next warp operation.
const unsigned char* ks_warp_exchange(unsigned mask, const void* value, unsigned bytes, unsigned* arrived);

/// Lanes of this warp that have not exited and are not waiting elsewhere: what __activemask returns.
unsigned ks_active_mask(void);
unsigned ks_lane(void);
unsigned ks_warp(void);

enum KsScope { KsScopeBlock = 0, KsScopeDevice = 1, KsScopeSystem = 2, KsScopeMask = 3 };
enum KsOrder { KsAcquire = 4, KsRelease = 8, KsOnlyReads = 16, KsOnlyWrites = 32 };

/// Announces an atomic read-modify-write of `bytes` bytes at `address`. Called before the operation itself,
/// which the prelude performs without instrumentation. `scopeAndOrder`: a scope, and what the operation itself
/// orders, without fences.
void ks_atomic(const void* address, unsigned bytes, int scopeAndOrder);

/// Announces a plain access of `bytes` bytes that the compiler's instrumentation cannot see as one
/// (vector types wider than 16 bytes, __ldg and the cache-hinted loads and stores).
void ks_load(const void* address, unsigned bytes);
void ks_store(const void* address, unsigned bytes);

/// cp.async: copies `value`, `bytes` (4, 8 or 16) bytes of the thread's own, to `address` in shared memory.
/// They are there when ks_await_copies() has waited for them; until then no thread may touch their place.
void ks_begin_copy(void* address, const void* value, unsigned bytes);
/// The copies that the thread has begun since the last call become one group, which may be empty.
void ks_commit_copies(void);
/// Returns when all groups of the thread but the last `pending` are there.
void ks_await_copies(size_t pending);

/// A variable of the thread begins: no access may touch `roomBytes` bytes from `before` on, up to the variable,
/// and as many from `after` on, behind it, until ks_own_room_ends() gets the same values. Returns true.
bool ks_own_room(const void* before, const void* after, unsigned roomBytes);
void ks_own_room_ends(const void* before, const void* after, unsigned roomBytes);

/// __threadfence_block / __threadfence / __threadfence_system, by KsScope.
void ks_fence(int scope);

/// Base of the block's dynamic shared memory, 1024-byte aligned.
void* ks_dynamic_shared(void);

/// printf from device code; output is size-capped.
int ks_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Device-side heap; freed when the launch ends.
void* ks_malloc(size_t bytes);
void ks_free(void* pointer);

/// clock64() and globaltimer: monotonic counters, in emulated instructions and in nanoseconds.
long long ks_clock(void);
unsigned long long ks_global_timer(void);

/// Ends the launch: the kernel asserted, trapped, or uses `feature`, which the emulator does not run.
void ks_assert_failed(const char* expression, const char* file, unsigned line) __attribute__((noreturn));
void ks_trap(void) __attribute__((noreturn));
void ks_refuse(const char* feature) __attribute__((noreturn));

/// Cooperative grid barrier (cooperative_groups::this_grid().sync()).
void ks_grid_barrier(void);

/// The pass of the grid that is running, from 0 on. All blocks run `passes` times, one whole pass after the
/// other, as several launches in one stream would.
unsigned ks_pass(unsigned passes);

#ifdef __cplusplus
}
#endif
