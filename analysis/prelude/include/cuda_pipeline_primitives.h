/// __pipeline_memcpy_async: copies into shared memory that are there once they were waited for.
#pragma once
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "kernelskill/standard_library.h"

#ifdef KERNELSKILL_EMULATION
template <class Chunk> KS_INLINE void ks_copy_chunk_async(void* to, const void* from) {
    typedef Chunk __attribute__((may_alias)) Cell;
    const Cell value = *static_cast<const Cell*>(from);
    ks_begin_copy(to, &value, sizeof value);
}
/// Copies `bytes - zeros` bytes (4, 8 or 16 as the hardware's) and clears the rest.
KS_INLINE void ks_copy_async(void* to, const void* from, size_t bytes, size_t zeros) {
    if (zeros == 0 && bytes == 16)
        return ks_copy_chunk_async<unsigned __int128>(to, from);
    if (zeros == 0 && bytes == 8)
        return ks_copy_chunk_async<unsigned long long>(to, from);
    if (zeros == 0 && bytes == 4)
        return ks_copy_chunk_async<unsigned>(to, from);
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
        ks_refuse("asynchronous copies of other than 4, 8 or 16 bytes");
    unsigned char value[16] = {};
    for (size_t i = 0; i + zeros < bytes; ++i)
        value[i] = static_cast<const unsigned char*>(from)[i];
    ks_begin_copy(to, value, static_cast<unsigned>(bytes));
}
#endif

KS_DEVICE void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from, size_t bytes,
                                       size_t zeros = 0) KS_BODY({ ks_copy_async(to, from, bytes, zeros); })
KS_DEVICE void __pipeline_commit() KS_BODY({ ks_commit_copies(); })
KS_DEVICE void __pipeline_wait_prior(size_t stages) KS_BODY({ ks_await_copies(stages); })
