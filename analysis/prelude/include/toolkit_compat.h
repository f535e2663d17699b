/// Forced in front of the user's file when clang parses it with a real CUDA toolkit: what nvcc's own headers and
/// compiler provide and clang's replacements of them leave out. Declarations only.
#pragma once

#if defined(__clang__) && defined(__CUDA__)

#ifndef __CUDACC_EXTENDED_LAMBDA__
#define __CUDACC_EXTENDED_LAMBDA__ 1
#endif
#ifndef __CUDACC_RELAXED_CONSTEXPR__
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#endif
// clang 22 has the cluster intrinsics; without this word cooperative_groups declares no this_cluster().
#define _CG_CLUSTER_INTRINSICS_AVAILABLE
// Not __NVCC__: libcu++ asks for it to tell the compilers apart.

#include <cuda.h>

// The headers that nvcc's cuda_runtime.h brings along. <math.h> besides <cmath>: it puts isfinite and its like, for the host's
// types, into the global namespace.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <utility>

#define __CUDACC_VER_MAJOR__ (CUDA_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDA_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0

// clang knows managed variables for HIP only.
#undef __managed__
#define __managed__ __attribute__((device))

// min and max of any two numbers, on the host; clang has the device's.
#define KS_MIN_MAX(result, first, second)                                                          \
    __host__ result min(first, second);                                                            \
    __host__ result max(first, second);
#define KS_MIN_MAX_SIGNS(T)                                                                        \
    KS_MIN_MAX(T, T, T)                                                                            \
    KS_MIN_MAX(unsigned T, unsigned T, unsigned T)                                                 \
    KS_MIN_MAX(unsigned T, unsigned T, T)                                                          \
    KS_MIN_MAX(unsigned T, T, unsigned T)
KS_MIN_MAX_SIGNS(int)
KS_MIN_MAX_SIGNS(long)
KS_MIN_MAX_SIGNS(long long)
KS_MIN_MAX(float, float, float)
KS_MIN_MAX(double, double, double)
KS_MIN_MAX(double, float, double)
KS_MIN_MAX(double, double, float)
#undef KS_MIN_MAX_SIGNS
#undef KS_MIN_MAX

// Cache-hinted access to types without an overload of their own.
template <class T> struct KsSame {
    using Type = T;
};
#define KS_LOAD(name) template <class T> __device__ T name(const T*);
#define KS_STORE(name) template <class T> __device__ void name(T*, const typename KsSame<T>::Type&);
KS_LOAD(__ldg)
KS_LOAD(__ldcg)
KS_LOAD(__ldca)
KS_LOAD(__ldcs)
KS_LOAD(__ldlu)
KS_LOAD(__ldcv)
KS_STORE(__stwb)
KS_STORE(__stcg)
KS_STORE(__stcs)
KS_STORE(__stwt)
#undef KS_LOAD
#undef KS_STORE

#endif
