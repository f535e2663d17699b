/// The code that the 16-bit floating types share besides narrow_float.inc, and how they are stored: in 16 bits, or with
/// KERNELSKILL_WIDE_HALVES in a double each, for float64 references of kernels that compute in them.
#pragma once

#include "kernelskill/atomics.h"
#include "kernelskill/cached_access.h"
#include "kernelskill/warp.h"
#include "vector_functions.h"

#ifdef KERNELSKILL_EMULATION
#define KS_INIT(...) : __VA_ARGS__ {}

/// `value` as a float whose last bit is set if anything was lost, so that rounding it again to fewer bits gives
/// what rounding `value` itself would.
KS_STRAIGHT float ks_round_to_odd(double value) {
    const float rounded = static_cast<float>(value);
    const double back = rounded;
    if (back == value || value != value)
        return rounded;
    unsigned bits = ks_bit_cast<unsigned>(rounded);
    if ((back < 0 ? -back : back) > (value < 0 ? -value : value))
        --bits;
    return ks_bit_cast<float>(bits | 1u);
}
/// a*b + c for operands of at most 12 bits, rounded to odd.
KS_STRAIGHT float ks_fused_to_odd(float a, float b, float c) {
    const double product = static_cast<double>(a) * b;
    const double sum = product + c;
    const double part = sum - product;
    const double lost = (product - (sum - part)) + (c - part);
    if (lost == 0 || sum != sum || std::isinf(sum))
        return ks_round_to_odd(sum);
    long long bits = ks_bit_cast<long long>(sum);
    if ((lost < 0) != (sum < 0))
        --bits;
    return ks_round_to_odd(ks_bit_cast<double>(bits | 1));
}
#else
/// A constructor's initialisers, written only where it is defined.
#define KS_INIT(...)
#endif

#ifdef KERNELSKILL_WIDE_HALVES
#define KS_STORED double
#define KS_REAL double
#define KS_REAL2 double2
#define KS_ODD(value) static_cast<double>(value)
#define KS_FUSED(a, b, c) std::fma(a, b, c)
#define KS_NEGATIVE(a) KS_T(-a.__x)
#define KS_MAGNITUDE(a) KS_T(std::fabs(a.__x))
#define KS_NO_NUMBER(T) T(__builtin_nan(""))
#else
#define KS_STORED unsigned short
#define KS_REAL float
#define KS_REAL2 float2
#define KS_ODD(value) ks_round_to_odd(value)
#define KS_FUSED(a, b, c) ks_fused_to_odd(a, b, c)
#define KS_NEGATIVE(a) KS_T(KS_RAW{static_cast<unsigned short>(a.__x ^ 0x8000u)})
#define KS_MAGNITUDE(a) KS_T(KS_RAW{static_cast<unsigned short>(a.__x & 0x7fffu)})
#define KS_NO_NUMBER(T) T(KS_RAW{0x7fff})
#endif
