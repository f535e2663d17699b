/// __pipeline_memcpy_async: a copy that is done at once when emulating.
#pragma once
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "kernelskill/standard_library.h"

#ifdef KERNELSKILL_EMULATION
template <class Chunk> KS_INLINE void ks_copy_chunk(void* to, const void* from) {
    typedef Chunk __attribute__((may_alias)) Cell;
    *static_cast<Cell*>(to) = *static_cast<const Cell*>(from);
}
/// Copies `bytes - zeros` bytes (4, 8 or 16 as the hardware's) and clears the rest.
KS_INLINE void ks_copy_async(void* to, const void* from, size_t bytes, size_t zeros) {
    if (zeros == 0 && bytes == 16)
        return ks_copy_chunk<unsigned __int128>(to, from);
    if (zeros == 0 && bytes == 8)
        return ks_copy_chunk<unsigned long long>(to, from);
    if (zeros == 0 && bytes == 4)
        return ks_copy_chunk<unsigned>(to, from);
    for (size_t i = 0; i < bytes; ++i)
        static_cast<unsigned char*>(to)[i] = i + zeros < bytes ? static_cast<const unsigned char*>(from)[i] : 0;
}
#endif

KS_DEVICE void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from, size_t bytes,
                                       size_t zeros = 0) KS_BODY({ ks_copy_async(to, from, bytes, zeros); })
KS_DEVICE void __pipeline_commit() KS_BODY({})
KS_DEVICE void __pipeline_wait_prior(size_t stages) KS_BODY({ static_cast<void>(stages); })
