/// Barriers, fences, clocks and ways to stop.
#pragma once

#include "kernelskill/standard_library.h"

KS_DEVICE void __syncthreads() KS_BODY({ ks_barrier(KsBarrierPlain, 0); })
KS_DEVICE int __syncthreads_count(int predicate) KS_BODY({ return ks_barrier(KsBarrierCount, predicate); })
KS_DEVICE int __syncthreads_and(int predicate) KS_BODY({ return ks_barrier(KsBarrierAnd, predicate); })
KS_DEVICE int __syncthreads_or(int predicate) KS_BODY({ return ks_barrier(KsBarrierOr, predicate); })
KS_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) KS_BODY({ ks_syncwarp(mask); })
KS_DEVICE void __barrier_sync(unsigned int name) KS_BODY({
    static_cast<void>(name);
    ks_barrier(KsBarrierPlain, 0);
})
KS_DEVICE void __barrier_sync_count(unsigned int name, unsigned int threads)
    KS_BODY({ ks_named_barrier(name, threads); })

KS_DEVICE void __threadfence_block() KS_BODY({ ks_fence(0); })
KS_DEVICE void __threadfence() KS_BODY({ ks_fence(1); })
KS_DEVICE void __threadfence_system() KS_BODY({ ks_fence(2); })

#ifdef KERNELSKILL_EMULATION
KS_DEVICE long long int clock64() { return ks_clock(); }
#else
KS_DEVICE long long int clock64();
// The C library's clock() answers on both sides; its type is the device's too.
#endif
KS_DEVICE unsigned long long int __globaltimer() KS_BODY({ return ks_global_timer(); })
KS_DEVICE void __nanosleep(unsigned int nanoseconds) KS_BODY({ static_cast<void>(nanoseconds); })
KS_DEVICE void __trap() KS_BODY({ ks_trap(); })
KS_DEVICE void __brkpt(int code = 0) KS_BODY({ static_cast<void>(code); })
KS_DEVICE void __prof_trigger(int counter) KS_BODY({ static_cast<void>(counter); })
