/// __half and __half2: IEEE binary16.
#pragma once
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__

#include "kernelskill/narrow_float.h"

#ifdef KERNELSKILL_EMULATION
/// To nearest even; overflow to infinity; NaN to 0x7fff.
KS_STRAIGHT unsigned short ks_half_from_float(float value) {
    const unsigned bits = ks_bit_cast<unsigned>(value);
    const unsigned sign = bits >> 16 & 0x8000u;
    const unsigned magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return 0x7fff;
    if (magnitude >= 0x47800000u) // 65536
        return static_cast<unsigned short>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { // below 2^-14: the sum with 0.5 leaves the subnormal's bits, rounded
        const float shifted = ks_bit_cast<float>(magnitude) + 0.5f;
        return static_cast<unsigned short>(sign | (ks_bit_cast<unsigned>(shifted) - 0x3f000000u));
    }
    const unsigned rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<unsigned short>(sign | ((rounded - 0x38000000u) >> 13));
}
KS_STRAIGHT float ks_half_to_float(unsigned short half) {
    const unsigned sign = (half & 0x8000u) << 16;
    const unsigned magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u)
        return ks_bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude < 0x400u) {
        const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8f; // 2^-24
        return ks_bit_cast<float>(sign | ks_bit_cast<unsigned>(value));
    }
    return ks_bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}
#endif

#define KS_T __half
#define KS_PAIR __half2
#define KS_RAW __half_raw
#define KS_PAIR_RAW __half2_raw
#define KS_NAME(prefix, suffix) prefix##half##suffix
#define KS_NAME2(prefix, suffix) prefix##half2##suffix
#ifdef KERNELSKILL_WIDE_HALVES
#define KS_ENCODE(value) (value)
#define KS_DECODE(value) (value)
#else
#define KS_ENCODE(value) ks_half_from_float(value)
#define KS_DECODE(bits) ks_half_to_float(bits)
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

KS_HOST_DEVICE __half2 __half2half2(__half a) KS_BODY({ return __half2(a, a); })

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
