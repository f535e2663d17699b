/// CUDA's keywords, in two spellings.
///
/// Parsing (clang, `-x cuda`): attributes. Emulation (KERNELSKILL_EMULATION, any host compiler): nothing, or the
/// nearest C++. A device function is written once: KS_BODY(...) is `;` when parsing and the body when
/// emulating, so that whatever the parser accepts the emulator can run.
#pragma once

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define CUDA_API_PER_THREAD_DEFAULT_STREAM_UNSET 1
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1

#ifdef KERNELSKILL_EMULATION

#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

/// A host compiler instruments no access of an object that a call takes or returns by value. So every call in a kernel is
/// inlined, but for recursion.
#define __global__ __attribute__((flatten))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
/// Every shared variable of the image lies in its TLS block, which the worker lays out per block. A variable that is
/// written and never read is a race's only trace, so it is kept.
#define __shared__ thread_local __attribute__((used))
#define __forceinline__ inline __attribute__((always_inline))
/// Empty, because the standard library itself writes __attribute__((__noinline__)).
#define __noinline__
#define __inline_hint__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __nv_pure__ __attribute__((pure))

#define KS_INLINE static inline __attribute__((always_inline, unused))
#define KS_MEMBER inline __attribute__((always_inline))
#define KS_DEVICE KS_INLINE
#define KS_HOST_DEVICE KS_INLINE
#define KS_HOST_DEVICE_MEMBER KS_MEMBER
#define KS_BODY(...) __VA_ARGS__
/// A function that the race detector must not see as plain accesses.
#define KS_UNSEEN static __attribute__((noinline, no_sanitize_thread, unused))
/// A function that is one instruction on a GPU: lanes that go different ways inside did not part.
#if defined(__clang__)
#define KS_STRAIGHT static __attribute__((noinline, no_sanitize("thread", "coverage"), unused))
#else
#define KS_STRAIGHT static __attribute__((noinline, no_sanitize_thread, no_sanitize_coverage, unused))
#endif
/// Says that a GPU executes `name` here. It is counted in place of the arithmetic around it, which is the emulator's own
/// way to the result.
#define KS_OPERATION(name) __asm__ volatile("# ks_operation " name)

#else

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
/// clang knows managed variables for HIP only; like device variables they are visible on both sides.
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __maxnreg__(n) __attribute__((maxnreg(n)))
#if __has_attribute(cluster_dims)
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#else
#define __cluster_dims__(...)
#endif
#define __block_size__(...)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __nv_pure__ __attribute__((pure))

#define KS_INLINE static __inline__
#define KS_MEMBER __device__
#define KS_DEVICE __device__
#define KS_HOST_DEVICE __host__ __device__
#define KS_HOST_DEVICE_MEMBER __host__ __device__
#define KS_BODY(...) ;

#endif

#define __align__(n) __attribute__((aligned(n)))
#define __thread__ __thread
#define __cudart_builtin__
#define __device_builtin__
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB
