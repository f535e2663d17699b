/// Device-only arithmetic: fast approximations, and operations with an explicit rounding mode.
///
/// The emulator lets each approximation err by as much as the CUDA C++ Programming Guide allows it to (Mathematical
/// Functions, Intrinsic Functions), so that an edit which brings one in shows what it may cost.
#pragma once

#include "kernelskill/math_functions.h"
#include "vector_types.h"

#ifdef KERNELSKILL_EMULATION
/// A unit in the last place is at least this part of a number.
#define KS_ULP 0x1p-24
/// `value` moved by `error`. The side follows from the argument's bits: the same for the same argument, and not one side
/// for all.
KS_STRAIGHT float ks_erring(float x, double value, double error) {
    if (!std::isfinite(value) || !std::isfinite(error))
        return static_cast<float>(value);
    unsigned bits = __builtin_bit_cast(unsigned, x);
    bits = (bits ^ (bits >> 16)) * 0x7feb352du;
    bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
    return static_cast<float>(bits >> 31 ? value - error : value + error);
}
/// Units that a result of `ulps` at most is moved by; what is left is for the rounding to float.
KS_STRAIGHT float ks_erring_ulps(float x, double value, double ulps) {
    return ks_erring(x, value, std::fabs(value) * (ulps - 0.5) * KS_ULP);
}
/// A logarithm: `absolute` between a half and two, else `ulps`.
KS_STRAIGHT float ks_erring_logarithm(float x, double value, double absolute, double ulps) {
    return x >= 0.5f && x <= 2.0f ? ks_erring(x, value, absolute) : ks_erring_ulps(x, value, ulps);
}
/// A sine or cosine: `absolute` up to pi. Beyond, the argument is reduced in single precision.
KS_STRAIGHT float ks_erring_wave(float x, double value, double absolute) {
    constexpr double pi = 3.14159265358979323846;
    return ks_erring(x, value, absolute * std::fmax(1.0, std::fabs(x) / pi));
}
/// Whether `x` is a power of two. The hardware computes the integral part of a binary exponential or logarithm from the
/// exponent bits alone, so results without another part are exact. Code relies on it: `(int)__powf(2, i)`.
KS_STRAIGHT bool ks_is_power_of_two(float x) {
    int exponent = 0;
    return std::frexp(x, &exponent) == 0.5f;
}
KS_STRAIGHT float ks_erring_exponential(float x, double value) {
    return x == std::floor(x) ? static_cast<float>(value) : ks_erring_ulps(x, value, 2);
}
KS_STRAIGHT float ks_erring_binary_logarithm(float x, double value) {
    return ks_is_power_of_two(x) ? static_cast<float>(value) : ks_erring_logarithm(x, value, 2.38e-7, 2);
}
/// Two to the power of y log2(x), each of them approximated.
KS_STRAIGHT float ks_erring_power(float x, float y) {
    if (x < 0)
        return NAN;
    const double logarithm = std::log2(static_cast<double>(x));
    if (ks_is_power_of_two(x) && y * logarithm == std::floor(y * logarithm))
        return static_cast<float>(std::exp2(y * logarithm));
    const double off =
        x >= 0.5f && x <= 2.0f ? 0x1p-22 : 1.5 * KS_ULP * std::fabs(logarithm);
    const double product = std::fabs(y) * (off + KS_ULP * std::fabs(logarithm));
    const double value = std::pow(static_cast<double>(x), static_cast<double>(y));
    return ks_erring(x, value, std::fabs(value) * (0.69314718055994530942 * product + 1.5 * KS_ULP));
}
KS_STRAIGHT float ks_erring_quotient(float x, float y) {
    if (std::fabs(y) > 0x1p126f && !std::isinf(y))
        return std::isinf(x) ? static_cast<float>(NAN) : 0.0f;
    int exponent = 0; // The reciprocal of a power of two is exact, and so is a product with it.
    if (std::frexp(std::fabs(y), &exponent) == 0.5f)
        return x / y;
    return ks_erring_ulps(y, static_cast<double>(x) / y, 2);
}
#endif

#define KS_APPROXIMATION(name, expression)                                                         \
    KS_DEVICE float name(float x) KS_BODY({                                                        \
        KS_OPERATION(#name);                                                                       \
        const double exact = x;                                                                    \
        return expression;                                                                         \
    })
KS_APPROXIMATION(__sinf, ks_erring_wave(x, std::sin(exact), 3.59e-7))
KS_APPROXIMATION(__cosf, ks_erring_wave(x, std::cos(exact), 4.18e-7))
KS_APPROXIMATION(__tanf, ks_erring_wave(x, std::sin(exact), 3.59e-7) /
                             ks_erring_wave(x, std::cos(exact), 4.18e-7))
KS_APPROXIMATION(__tanhf, ks_erring(x, std::tanh(exact), std::fabs(std::tanh(exact)) * 4.92e-4))
KS_APPROXIMATION(__expf,
                 ks_erring_ulps(x, std::exp(exact), 2 + std::floor(std::fabs(1.173 * exact))))
KS_APPROXIMATION(__exp10f, ks_erring_ulps(x, std::pow(10.0, exact),
                                          2 + std::floor(std::fabs(2.97 * exact))))
KS_APPROXIMATION(__exp2f, ks_erring_exponential(x, std::exp2(exact)))
KS_APPROXIMATION(__logf, ks_erring_logarithm(x, std::log(exact), 3.59e-7, 3))
KS_APPROXIMATION(__log2f, ks_erring_binary_logarithm(x, std::log2(exact)))
KS_APPROXIMATION(__log10f, ks_erring_logarithm(x, std::log10(exact), 5.96e-8, 3))
KS_APPROXIMATION(__frcp_approx, ks_erring_ulps(x, 1 / exact, 1))
#undef KS_APPROXIMATION
KS_DEVICE float __powf(float x, float y) KS_BODY({
    KS_OPERATION("__powf");
    return ks_erring_power(x, y);
})
KS_DEVICE float __fdividef(float x, float y) KS_BODY({
    KS_OPERATION("__fdividef");
    return ks_erring_quotient(x, y);
})
KS_DEVICE void __sincosf(float x, float* sine, float* cosine) KS_BODY({
    KS_OPERATION("__sinf");
    KS_OPERATION("__cosf");
    *sine = ks_erring_wave(x, std::sin(static_cast<double>(x)), 3.59e-7);
    *cosine = ks_erring_wave(x, std::cos(static_cast<double>(x)), 4.18e-7);
})
#ifdef KERNELSKILL_EMULATION
#undef KS_ULP
#endif
KS_DEVICE float __saturatef(float x) KS_BODY({ return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; })
KS_DEVICE float saturate(float x) KS_BODY({ return __saturatef(x); })
KS_DEVICE float __frsqrt_rn(float x) KS_BODY({ return rsqrtf(x); })

// Sums, products, quotients, roots and fused operations; `rn` is the host's own mode.
#define KS_ROUNDED2(name, T, op, instruction, suffix, mode)                                        \
    KS_DEVICE T name##_##suffix(T x, T y) KS_BODY({                                                \
        KS_OPERATION(instruction);                                                                 \
        return ks_rounded<T>(mode, x, y, [](T a, T b) -> T { return a op b; });                    \
    })
#define KS_BINARY(name, T, op, instruction)                                                        \
    KS_DEVICE T name##_rn(T x, T y) KS_BODY({                                                      \
        KS_OPERATION(instruction);                                                                 \
        volatile T result = x op y; /* never contracted into a fused operation */                  \
        return result;                                                                             \
    })                                                                                             \
    KS_ROUNDED2(name, T, op, instruction, rz, FE_TOWARDZERO)                                                    \
    KS_ROUNDED2(name, T, op, instruction, ru, FE_UPWARD)                                                        \
    KS_ROUNDED2(name, T, op, instruction, rd, FE_DOWNWARD)
KS_BINARY(__fadd, float, +, "fadd")
KS_BINARY(__fsub, float, -, "fadd")
KS_BINARY(__fmul, float, *, "fmul")
KS_BINARY(__fdiv, float, /, "fdiv")
KS_BINARY(__dadd, double, +, "dadd")
KS_BINARY(__dsub, double, -, "dadd")
KS_BINARY(__dmul, double, *, "dmul")
KS_BINARY(__ddiv, double, /, "ddiv")
#undef KS_BINARY
#undef KS_ROUNDED2

#define KS_ROUNDED1(name, T, expression, instruction, suffix, mode)                                \
    KS_DEVICE T name##_##suffix(T x) KS_BODY({                                                     \
        KS_OPERATION(instruction);                                                                 \
        return ks_rounded<T>(mode, x, 0, [](T a, int) -> T { return expression; });                \
    })
#define KS_UNARY(name, T, expression, instruction)                                                 \
    KS_ROUNDED1(name, T, expression, instruction, rn, FE_TONEAREST)                                             \
    KS_ROUNDED1(name, T, expression, instruction, rz, FE_TOWARDZERO)                                            \
    KS_ROUNDED1(name, T, expression, instruction, ru, FE_UPWARD)                                                \
    KS_ROUNDED1(name, T, expression, instruction, rd, FE_DOWNWARD)
KS_UNARY(__fsqrt, float, std::sqrt(a), "sqrtf")
KS_UNARY(__frcp, float, 1 / a, "frcp")
KS_UNARY(__dsqrt, double, std::sqrt(a), "sqrt")
KS_UNARY(__drcp, double, 1 / a, "drcp")
#undef KS_UNARY
#undef KS_ROUNDED1

#define KS_FUSED(name, T, instruction, suffix, mode)                                               \
    KS_DEVICE T name##_##suffix(T x, T y, T z) KS_BODY({                                           \
        KS_OPERATION(instruction);                                                                 \
        return ks_rounded<T>(mode, x, y, [z](T a, T b) -> T { return std::fma(a, b, z); });        \
    })
#define KS_FMA(name, T, instruction)                                                               \
    KS_DEVICE T name##_rn(T x, T y, T z) KS_BODY({                                                 \
        KS_OPERATION(instruction);                                                                 \
        return std::fma(x, y, z);                                                                  \
    })                                                                                             \
    KS_FUSED(name, T, instruction, rz, FE_TOWARDZERO)                                                           \
    KS_FUSED(name, T, instruction, ru, FE_UPWARD)                                                               \
    KS_FUSED(name, T, instruction, rd, FE_DOWNWARD)
KS_FMA(__fmaf, float, "ffma")
KS_FMA(__fma, double, "dfma")
KS_FMA(__fmaf_ieee, float, "ffma")
#undef KS_FMA
#undef KS_FUSED

// Whole-vector operations of compute capability 10.
#define KS_TWICE(instruction)                                                                      \
    KS_OPERATION(instruction);                                                                     \
    KS_OPERATION(instruction)
KS_DEVICE float2 __fadd2_rn(float2 a, float2 b) KS_BODY({
    KS_TWICE("fadd");
    return float2{a.x + b.x, a.y + b.y};
})
KS_DEVICE float2 __fmul2_rn(float2 a, float2 b) KS_BODY({
    KS_TWICE("fmul");
    return float2{a.x * b.x, a.y * b.y};
})
KS_DEVICE float2 __ffma2_rn(float2 a, float2 b, float2 c) KS_BODY({
    KS_TWICE("ffma");
    return float2{std::fma(a.x, b.x, c.x), std::fma(a.y, b.y, c.y)};
})
#undef KS_TWICE
