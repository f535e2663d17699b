/// threadIdx, blockIdx, blockDim, gridDim, warpSize.
#pragma once

#include "vector_types.h"

#ifdef KERNELSKILL_EMULATION
#include "kernelskill/emulation_abi.h"

// The worker's variables under CUDA's names. `const` holds for as long as one thread runs, which is all
// the compiler can see, and keeps the reads out of the access counts; dim3's constructors would defeat that.
extern const uint3 threadIdx __asm__("ks_threadIdx");
extern const uint3 blockIdx __asm__("ks_blockIdx");
extern const uint3 blockDim __asm__("ks_blockDim");
extern const uint3 gridDim __asm__("ks_gridDim");
static const int warpSize __attribute__((unused)) = 32;
#else
extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;
#endif
