/// The parts of the C library that nvcc makes visible in every file and callable from device code. printf and
/// assert come with <stdio.h> and <assert.h>, which the prelude wraps.
#pragma once

#include "kernelskill/language.h"

// glibc declares its own functions under names that CUDA gives to fast approximations.
#define __sinf ks_libc_sinf
#define __cosf ks_libc_cosf
#define __tanf ks_libc_tanf
#define __tanhf ks_libc_tanhf
#define __expf ks_libc_expf
#define __exp10f ks_libc_exp10f
#define __exp2f ks_libc_exp2f
#define __logf ks_libc_logf
#define __log2f ks_libc_log2f
#define __log10f ks_libc_log10f
#define __powf ks_libc_powf
#define __sincosf ks_libc_sincosf

#ifdef KERNELSKILL_EMULATION

#include "kernelskill/emulation_abi.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

/// clock() of the host, kept reachable before the name is taken for the device's counter.
KS_INLINE clock_t ks_device_clock() { return static_cast<clock_t>(ks_clock()); }

KS_INLINE void* ks_memcpy(void* to, const void* from, size_t bytes) {
    if (!__builtin_constant_p(bytes) || bytes > 16) {
        ks_load(from, static_cast<unsigned>(bytes));
        ks_store(to, static_cast<unsigned>(bytes));
    }
    return __builtin_memcpy(to, from, bytes);
}
KS_INLINE void* ks_memset(void* to, int value, size_t bytes) {
    if (!__builtin_constant_p(bytes) || bytes > 16)
        ks_store(to, static_cast<unsigned>(bytes));
    return __builtin_memset(to, value, bytes);
}

namespace std {
using ::ks_device_clock;
using ::ks_free;
using ::ks_malloc;
using ::ks_memcpy;
using ::ks_memset;
using ::ks_printf;
} // namespace std

// Function-like, so that attributes, members and addresses of the same name stay what they are.
#define printf(...) ks_printf(__VA_ARGS__)
#define malloc(bytes) ks_malloc(bytes)
#define free(pointer) ks_free(pointer)
#define memcpy(to, from, bytes) ks_memcpy(to, from, bytes)
#define memset(to, value, bytes) ks_memset(to, value, bytes)
#define clock() ks_device_clock()

#else

// Skipped: 13 000 lines of Legendre polynomials, half of the whole prelude's parsing time.
#ifndef _GLIBCXX_BITS_SPECFUN_H
#define _GLIBCXX_BITS_SPECFUN_H 1
#endif

// The C and C++ libraries keep to the host (constexpr functions are on both sides anyway): other headers redeclare
// or overload their functions, which must then agree. What the device has of them is overloaded below.
#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif

extern "C" {
__device__ void* malloc(size_t bytes);
__device__ void free(void* pointer);
__device__ void* memcpy(void* to, const void* from, size_t bytes);
__device__ void* memmove(void* to, const void* from, size_t bytes);
__device__ void* memset(void* to, int value, size_t bytes);
__device__ int memcmp(const void* a, const void* b, size_t bytes);
__device__ int abs(int x);
__device__ long int labs(long int x);
__device__ long long int llabs(long long int x);
__device__ clock_t clock();
}

#pragma clang force_cuda_host_device begin
#include <math.h>

#include <cmath>
#pragma clang force_cuda_host_device end

#endif

#undef __sinf
#undef __cosf
#undef __tanf
#undef __tanhf
#undef __expf
#undef __exp10f
#undef __exp2f
#undef __logf
#undef __log2f
#undef __log10f
#undef __powf
#undef __sincosf
