/// Device-only arithmetic: fast approximations, and operations with an explicit rounding mode.
///
/// The approximations are computed to full accuracy: what they may err by is not a property of a program.
#pragma once

#include "kernelskill/math_functions.h"
#include "vector_types.h"

KS_DEVICE float __sinf(float x) KS_BODY({ return sinf(x); })
KS_DEVICE float __cosf(float x) KS_BODY({ return cosf(x); })
KS_DEVICE float __tanf(float x) KS_BODY({ return tanf(x); })
KS_DEVICE float __tanhf(float x) KS_BODY({ return tanhf(x); })
KS_DEVICE float __expf(float x) KS_BODY({ return expf(x); })
KS_DEVICE float __exp10f(float x) KS_BODY({ return exp10(x); })
KS_DEVICE float __exp2f(float x) KS_BODY({ return exp2f(x); })
KS_DEVICE float __logf(float x) KS_BODY({ return logf(x); })
KS_DEVICE float __log2f(float x) KS_BODY({ return log2f(x); })
KS_DEVICE float __log10f(float x) KS_BODY({ return log10f(x); })
KS_DEVICE float __powf(float x, float y) KS_BODY({ return powf(x, y); })
KS_DEVICE float __fdividef(float x, float y) KS_BODY({ return x / y; })
KS_DEVICE void __sincosf(float x, float* sine, float* cosine) KS_BODY({
    *sine = sinf(x);
    *cosine = cosf(x);
})
KS_DEVICE float __saturatef(float x) KS_BODY({ return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; })
KS_DEVICE float saturate(float x) KS_BODY({ return __saturatef(x); })
KS_DEVICE float __frsqrt_rn(float x) KS_BODY({ return rsqrtf(x); })
KS_DEVICE float __frcp_approx(float x) KS_BODY({ return 1.0f / x; })

// Sums, products, quotients, roots and fused operations; `rn` is the host's own mode.
#define KS_ROUNDED2(name, T, op, suffix, mode)                                                     \
    KS_DEVICE T name##_##suffix(T x, T y) KS_BODY({                                                \
        return ks_rounded<T>(mode, x, y, [](T a, T b) -> T { return a op b; });                    \
    })
#define KS_BINARY(name, T, op)                                                                     \
    KS_DEVICE T name##_rn(T x, T y) KS_BODY({                                                      \
        volatile T result = x op y; /* never contracted into a fused operation */                  \
        return result;                                                                             \
    })                                                                                             \
    KS_ROUNDED2(name, T, op, rz, FE_TOWARDZERO)                                                    \
    KS_ROUNDED2(name, T, op, ru, FE_UPWARD)                                                        \
    KS_ROUNDED2(name, T, op, rd, FE_DOWNWARD)
KS_BINARY(__fadd, float, +)
KS_BINARY(__fsub, float, -)
KS_BINARY(__fmul, float, *)
KS_BINARY(__fdiv, float, /)
KS_BINARY(__dadd, double, +)
KS_BINARY(__dsub, double, -)
KS_BINARY(__dmul, double, *)
KS_BINARY(__ddiv, double, /)
#undef KS_BINARY
#undef KS_ROUNDED2

#define KS_ROUNDED1(name, T, expression, suffix, mode)                                             \
    KS_DEVICE T name##_##suffix(T x) KS_BODY({                                                     \
        return ks_rounded<T>(mode, x, 0, [](T a, int) -> T { return expression; });                \
    })
#define KS_UNARY(name, T, expression)                                                              \
    KS_ROUNDED1(name, T, expression, rn, FE_TONEAREST)                                             \
    KS_ROUNDED1(name, T, expression, rz, FE_TOWARDZERO)                                            \
    KS_ROUNDED1(name, T, expression, ru, FE_UPWARD)                                                \
    KS_ROUNDED1(name, T, expression, rd, FE_DOWNWARD)
KS_UNARY(__fsqrt, float, std::sqrt(a))
KS_UNARY(__frcp, float, 1 / a)
KS_UNARY(__dsqrt, double, std::sqrt(a))
KS_UNARY(__drcp, double, 1 / a)
#undef KS_UNARY
#undef KS_ROUNDED1

#define KS_FUSED(name, T, suffix, mode)                                                            \
    KS_DEVICE T name##_##suffix(T x, T y, T z) KS_BODY({                                           \
        return ks_rounded<T>(mode, x, y, [z](T a, T b) -> T { return std::fma(a, b, z); });        \
    })
#define KS_FMA(name, T)                                                                            \
    KS_DEVICE T name##_rn(T x, T y, T z) KS_BODY({ return std::fma(x, y, z); })                    \
    KS_FUSED(name, T, rz, FE_TOWARDZERO)                                                           \
    KS_FUSED(name, T, ru, FE_UPWARD)                                                               \
    KS_FUSED(name, T, rd, FE_DOWNWARD)
KS_FMA(__fmaf, float)
KS_FMA(__fma, double)
KS_FMA(__fmaf_ieee, float)
#undef KS_FMA
#undef KS_FUSED

// Whole-vector operations of compute capability 10.
KS_DEVICE float2 __fadd2_rn(float2 a, float2 b) KS_BODY({ return float2{a.x + b.x, a.y + b.y}; })
KS_DEVICE float2 __fmul2_rn(float2 a, float2 b) KS_BODY({ return float2{a.x * b.x, a.y * b.y}; })
KS_DEVICE float2 __ffma2_rn(float2 a, float2 b, float2 c)
    KS_BODY({ return float2{std::fma(a.x, b.x, c.x), std::fma(a.y, b.y, c.y)}; })

