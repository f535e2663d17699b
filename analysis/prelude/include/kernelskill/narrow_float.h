/// The code that the 16-bit floating types share besides narrow_float.inc.
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
