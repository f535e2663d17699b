/// Device-only arithmetic: fast approximations, and operations with an explicit rounding mode.
///
/// The approximations are computed to full accuracy: what they may err by is not a property of a program.
#pragma once

#include "kernelskill/math_functions.h"
#include "vector_types.h"

#define KS_APPROXIMATION(name, expression)                                                         \
    KS_DEVICE float name(float x) KS_BODY({                                                        \
        KS_OPERATION(#name);                                                                       \
        return expression;                                                                         \
    })
KS_APPROXIMATION(__sinf, sinf(x))
KS_APPROXIMATION(__cosf, cosf(x))
KS_APPROXIMATION(__tanf, tanf(x))
KS_APPROXIMATION(__tanhf, tanhf(x))
KS_APPROXIMATION(__expf, expf(x))
KS_APPROXIMATION(__exp10f, exp10(x))
KS_APPROXIMATION(__exp2f, exp2f(x))
KS_APPROXIMATION(__logf, logf(x))
KS_APPROXIMATION(__log2f, log2f(x))
KS_APPROXIMATION(__log10f, log10f(x))
KS_APPROXIMATION(__frcp_approx, 1.0f / x)
#undef KS_APPROXIMATION
KS_DEVICE float __powf(float x, float y) KS_BODY({
    KS_OPERATION("__powf");
    return powf(x, y);
})
KS_DEVICE float __fdividef(float x, float y) KS_BODY({
    KS_OPERATION("__fdividef");
    return x / y;
})
KS_DEVICE void __sincosf(float x, float* sine, float* cosine) KS_BODY({
    KS_OPERATION("__sinf");
    KS_OPERATION("__cosf");
    *sine = sinf(x);
    *cosine = cosf(x);
})
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
