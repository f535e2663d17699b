/// __nv_bfloat16 and __nv_bfloat162: the upper half of a float.
#pragma once
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

#include "cuda_fp16.h"

#ifdef KERNELSKILL_EMULATION
/// To nearest even; NaN to 0x7fff.
KS_STRAIGHT unsigned short ks_bfloat16_from_float(float value) {
    const unsigned bits = ks_bit_cast<unsigned>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
KS_INLINE float ks_bfloat16_to_float(unsigned short bits) {
    return ks_bit_cast<float>(static_cast<unsigned>(bits) << 16);
}
#endif

#define KS_T __nv_bfloat16
#define KS_PAIR __nv_bfloat162
#define KS_RAW __nv_bfloat16_raw
#define KS_PAIR_RAW __nv_bfloat162_raw
#define KS_NAME(prefix, suffix) prefix##bfloat16##suffix
#define KS_NAME2(prefix, suffix) prefix##bfloat162##suffix
#ifdef KERNELSKILL_WIDE_HALVES
#define KS_ENCODE(value) (value)
#define KS_DECODE(value) (value)
#else
#define KS_ENCODE(value) ks_bfloat16_from_float(value)
#define KS_DECODE(bits) ks_bfloat16_to_float(bits)
#endif
#include "kernelskill/narrow_float.inc"
#undef KS_T
#undef KS_PAIR
#undef KS_RAW
#undef KS_PAIR_RAW
#undef KS_NAME
#undef KS_NAME2
#undef KS_ENCODE
#undef KS_DECODE

KS_HOST_DEVICE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a)
    KS_BODY({ return __nv_bfloat162(a, a); })

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
