/// Products of small matrices that the lanes of a warp compute together, as the tensor cores' instructions do.
#pragma once

#include "kernelskill/warp.h"

#ifdef KERNELSKILL_EMULATION
/// The bits of `value` rounded to TF32: 10 bits of mantissa, ties away from zero.
KS_UNSEEN unsigned ks_round_to_tf32(float value) {
    unsigned bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return bits;
    return (bits + 0x1000u) & ~0x1fffu;
}
KS_UNSEEN float ks_float_of_bits(unsigned bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/// The bits of `value` rounded to bfloat16, ties to even. With `isFinite`, an infinite result is the largest number.
KS_UNSEEN unsigned ks_round_to_bfloat16(float value, bool isFinite) {
    unsigned bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffu;
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return isFinite && (rounded & 0x7fffu) == 0x7f80u ? rounded - 1 : rounded;
}
KS_UNSEEN unsigned ks_bfloat16_pair(float upper, float lower, bool isFinite) {
    return ks_round_to_bfloat16(upper, isFinite) << 16 | ks_round_to_bfloat16(lower, isFinite);
}

/// Element types of a factor, each with the number of elements that a register holds.
struct KsTf32 {
    static constexpr unsigned perRegister = 1;
};
struct KsHalf {
    static constexpr unsigned perRegister = 2;
};
struct KsBFloat16 {
    static constexpr unsigned perRegister = 2;
};
/// Bits that TF32 lacks are not looked at.
KS_UNSEEN float ks_element(KsTf32, unsigned bits, unsigned) { return ks_float_of_bits(bits & ~0x1fffu); }
KS_UNSEEN float ks_element(KsHalf, unsigned bits, unsigned element) {
    const unsigned half = bits >> 16 * element & 0xffffu;
    const unsigned sign = (half & 0x8000u) << 16;
    if ((half & 0x7c00u) == 0x7c00u)
        return ks_float_of_bits(sign | 0x7f800000u | (half & 0x3ffu) << 13);
    // 2^112 moves the exponent, also that of denormal numbers.
    const float magnitude = ks_float_of_bits((half & 0x7fffu) << 13) * 0x1p112f;
    return sign != 0 ? -magnitude : magnitude;
}
KS_UNSEEN float ks_element(KsBFloat16, unsigned bits, unsigned element) {
    return ks_float_of_bits((bits >> 16 * element & 0xffffu) << 16);
}

/// A lane's elements of the left matrix, which has 16 rows, and of the right one, which has 8 columns.
struct KsFactors {
    unsigned left[4];
    unsigned right[2];
};

/// Adds the products to a lane's four sums: rows lane / 4 and lane / 4 + 8, columns lane % 4 * 2 and the next one.
/// Registers 0 and 1 of the left factor hold rows that are 8 apart, 2 and 3 the second half of the depth, as register 1
/// of the right factor does. In a half, lane % 4 tells the depth (PTX ISA, "Matrix fragments for mma").
template <class Element> KS_UNSEEN void ks_add_products(const KsFactors* all, unsigned lane, float* sums) {
    for (unsigned row = 0; row < 2; ++row)
        for (unsigned column = 0; column < 2; ++column) {
            // The sums of products are exact up to the rounding of their total.
            double total = sums[2 * row + column];
            for (unsigned half = 0; half < 2; ++half)
                for (unsigned part = 0; part < 4; ++part)
                    for (unsigned element = 0; element < Element::perRegister; ++element) {
                        const unsigned left = all[lane / 4 * 4 + part].left[2 * half + row];
                        const unsigned right = all[(lane % 4 * 2 + column) * 4 + part].right[half];
                        total += static_cast<double>(ks_element(Element{}, left, element)) *
                                 ks_element(Element{}, right, element);
                    }
            sums[2 * row + column] = static_cast<float>(total);
        }
}

/// `result` = left * right + `added`, of 16 x 8 elements.
template <class Element>
KS_INLINE void ks_mma(float& r0, float& r1, float& r2, float& r3, unsigned l0, unsigned l1, unsigned l2, unsigned l3,
                      unsigned b0, unsigned b1, float c0, float c1, float c2, float c3) {
    KsFactors all[32];
    ks_from_all_lanes(~0u, KsFactors{{l0, l1, l2, l3}, {b0, b1}}, all);
    float sums[4] = {c0, c1, c2, c3};
    ks_add_products<Element>(all, ks_lane(), sums);
    r0 = sums[0];
    r1 = sums[1];
    r2 = sums[2];
    r3 = sums[3];
}
#endif
