/// 8-bit floating types: e4m3 and e5m2.
#pragma once
#define __CUDA_FP8_H__
#define __CUDA_FP8_TYPES_EXIST__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;

#ifdef KERNELSKILL_EMULATION
/// The value of an 8-bit code with `mantissa` bits of mantissa.
KS_INLINE float ks_fp8_to_float(unsigned char code, __nv_fp8_interpretation_t kind) {
    const int mantissa = kind == __NV_E4M3 ? 3 : 2;
    const int bias = kind == __NV_E4M3 ? 7 : 15;
    const int exponent = (code & 0x7f) >> mantissa;
    const int fraction = code & ((1 << mantissa) - 1);
    const float sign = code & 0x80 ? -1.0f : 1.0f;
    if (kind == __NV_E4M3 && (code & 0x7f) == 0x7f)
        return NAN;
    if (kind == __NV_E5M2 && exponent == 31)
        return fraction ? NAN : sign * HUGE_VALF;
    return sign * std::ldexp(static_cast<float>(exponent ? fraction + (1 << mantissa) : fraction),
                             (exponent ? exponent : 1) - bias - mantissa);
}
/// To nearest even. The codes grow with the magnitude, so the neighbours of a value are found by bisection.
KS_INLINE unsigned char ks_fp8_from_float(float value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    const unsigned char sign = std::signbit(value) ? 0x80 : 0;
    const unsigned char largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
    const unsigned char beyond = kind == __NV_E4M3 ? 0x7f : 0x7c;
    const float magnitude = std::fabs(value);
    if (value != value)
        return 0x7f;
    unsigned char low = 0;
    unsigned char high = largest;
    while (low < high) {
        const unsigned char middle = static_cast<unsigned char>((low + high + 1) / 2);
        if (ks_fp8_to_float(middle, kind) <= magnitude)
            low = middle;
        else
            high = static_cast<unsigned char>(middle - 1);
    }
    const float below = ks_fp8_to_float(low, kind);
    const float step = low == largest ? below - ks_fp8_to_float(static_cast<unsigned char>(low - 1), kind)
                                      : ks_fp8_to_float(static_cast<unsigned char>(low + 1), kind) - below;
    const bool up = magnitude - below > step / 2 || (magnitude - below == step / 2 && (low & 1));
    if (low == largest && up)
        return static_cast<unsigned char>(sign | (saturation == __NV_SATFINITE ? largest : beyond));
    return static_cast<unsigned char>(sign | (up ? low + 1 : low));
}
#endif

KS_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation,
                                                        __nv_fp8_interpretation_t kind)
    KS_BODY({ return ks_fp8_from_float(value, saturation, kind); })
KS_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturation,
                                                         __nv_fp8_interpretation_t kind)
    KS_BODY({ return ks_fp8_from_float(ks_round_to_odd(value), saturation, kind); })
KS_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 value, __nv_saturation_t saturation,
                                                             __nv_fp8_interpretation_t kind) KS_BODY({
    return static_cast<unsigned short>(ks_fp8_from_float(value.x, saturation, kind) |
                                       ks_fp8_from_float(value.y, saturation, kind) << 8);
})
KS_HOST_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t code, __nv_fp8_interpretation_t kind)
    KS_BODY({ return __half_raw{ks_half_from_float(ks_fp8_to_float(code, kind))}; })

#define KS_FP8(name, kind)                                                                         \
    struct name {                                                                                  \
        __nv_fp8_storage_t __x;                                                                    \
        name() = default;                                                                          \
        explicit KS_HOST_DEVICE_MEMBER name(float value)                                           \
            KS_INIT(__x(ks_fp8_from_float(value, __NV_SATFINITE, kind)));                          \
        explicit KS_HOST_DEVICE_MEMBER name(double value)                                          \
            KS_INIT(__x(ks_fp8_from_float(ks_round_to_odd(value), __NV_SATFINITE, kind)));         \
        explicit KS_HOST_DEVICE_MEMBER name(int value)                                             \
            KS_INIT(__x(ks_fp8_from_float(static_cast<float>(value), __NV_SATFINITE, kind)));      \
        explicit KS_HOST_DEVICE_MEMBER name(__half value)                                          \
            KS_INIT(__x(ks_fp8_from_float(value, __NV_SATFINITE, kind)));                          \
        explicit KS_HOST_DEVICE_MEMBER name(__nv_bfloat16 value)                                   \
            KS_INIT(__x(ks_fp8_from_float(value, __NV_SATFINITE, kind)));                          \
        explicit KS_HOST_DEVICE_MEMBER operator float() const                                      \
            KS_BODY({ return ks_fp8_to_float(__x, kind); })                                        \
        explicit KS_HOST_DEVICE_MEMBER operator double() const                                     \
            KS_BODY({ return ks_fp8_to_float(__x, kind); })                                        \
        explicit KS_HOST_DEVICE_MEMBER operator __half() const                                     \
            KS_BODY({ return __half(ks_fp8_to_float(__x, kind)); })                                \
        explicit KS_HOST_DEVICE_MEMBER operator __nv_bfloat16() const                              \
            KS_BODY({ return __nv_bfloat16(ks_fp8_to_float(__x, kind)); })                         \
    };
KS_FP8(__nv_fp8_e4m3, __NV_E4M3)
KS_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef KS_FP8
struct __attribute__((aligned(2))) __nv_fp8x2_e4m3 {
    __nv_fp8x2_storage_t __x;
};
struct __attribute__((aligned(2))) __nv_fp8x2_e5m2 {
    __nv_fp8x2_storage_t __x;
};
struct __attribute__((aligned(4))) __nv_fp8x4_e4m3 {
    __nv_fp8x4_storage_t __x;
};
struct __attribute__((aligned(4))) __nv_fp8x4_e5m2 {
    __nv_fp8x4_storage_t __x;
};
