/// The values of floating-point numbers of 16 bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kernelskill::analysis {

/// The number that these bits are as `__half`.
[[nodiscard]] inline double halfValue(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f;
    const int mantissa = bits & 0x3ff;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 0x1f)
        return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0)
        return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

/// The number that these bits are as `__nv_bfloat16`.
[[nodiscard]] inline double bfloatValue(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

} // namespace kernelskill::analysis
