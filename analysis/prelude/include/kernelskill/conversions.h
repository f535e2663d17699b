/// Type punning, and conversions between numbers with a rounding mode in their name.
#pragma once

#include "kernelskill/standard_library.h"

#ifdef KERNELSKILL_EMULATION
#include <fenv.h>

template <class To, class From> KS_INLINE To ks_bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}

/// Evaluates `operation` with the host's rounding mode set to `mode`. Not inlined: the compiler must not move
/// arithmetic across the change of mode.
template <class Result, class A, class B, class Operation>
static __attribute__((noinline, unused)) Result ks_rounded(int mode, A a, B b, Operation operation) {
    volatile A first = a;
    volatile B second = b;
    const int before = fegetround();
    fesetround(mode);
    volatile Result result = operation(first, second);
    fesetround(before);
    return result;
}

/// A conversion to an integer as the GPU does it: clamped to the target's range, NaN to `nan`.
template <class Integer, class Float> KS_INLINE Integer ks_saturating(Float rounded, Integer nan) {
    if (rounded != rounded)
        return nan;
    const Float limit = static_cast<Float>(2) * static_cast<Float>(Integer{1} + (std::numeric_limits<Integer>::max() / 2));
    if (rounded >= limit)
        return std::numeric_limits<Integer>::max();
    if (rounded <= static_cast<Float>(std::numeric_limits<Integer>::min()))
        return std::numeric_limits<Integer>::min();
    return static_cast<Integer>(rounded);
}
#endif

KS_DEVICE int __float_as_int(float x) KS_BODY({ return ks_bit_cast<int>(x); })
KS_DEVICE unsigned int __float_as_uint(float x) KS_BODY({ return ks_bit_cast<unsigned int>(x); })
KS_DEVICE float __int_as_float(int x) KS_BODY({ return ks_bit_cast<float>(x); })
KS_DEVICE float __uint_as_float(unsigned int x) KS_BODY({ return ks_bit_cast<float>(x); })
KS_DEVICE long long int __double_as_longlong(double x) KS_BODY({ return ks_bit_cast<long long int>(x); })
KS_DEVICE double __longlong_as_double(long long int x) KS_BODY({ return ks_bit_cast<double>(x); })
KS_DEVICE int __double2hiint(double x)
    KS_BODY({ return static_cast<int>(ks_bit_cast<long long int>(x) >> 32); })
KS_DEVICE int __double2loint(double x)
    KS_BODY({ return static_cast<int>(ks_bit_cast<long long int>(x)); })
KS_DEVICE double __hiloint2double(int high, int low) KS_BODY({
    return ks_bit_cast<double>(static_cast<long long int>(
        (static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32) |
        static_cast<unsigned>(low)));
})

// Float to integer: to nearest even, towards zero, up, down.
#define KS_TO_INTEGER(from, From, to, To, nan)                                                     \
    KS_DEVICE To __##from##2##to##_rn(From x)                                                      \
        KS_BODY({ return ks_saturating<To>(std::nearbyint(x), nan); })                             \
    KS_DEVICE To __##from##2##to##_rz(From x) KS_BODY({ return ks_saturating<To>(std::trunc(x), nan); }) \
    KS_DEVICE To __##from##2##to##_ru(From x) KS_BODY({ return ks_saturating<To>(std::ceil(x), nan); }) \
    KS_DEVICE To __##from##2##to##_rd(From x) KS_BODY({ return ks_saturating<To>(std::floor(x), nan); })
KS_TO_INTEGER(float, float, int, int, 0)
KS_TO_INTEGER(float, float, uint, unsigned int, 0u)
KS_TO_INTEGER(float, float, ll, long long int, std::numeric_limits<long long>::min())
KS_TO_INTEGER(float, float, ull, unsigned long long int, 1ull << 63)
KS_TO_INTEGER(double, double, int, int, std::numeric_limits<int>::min())
KS_TO_INTEGER(double, double, uint, unsigned int, 1u << 31)
KS_TO_INTEGER(double, double, ll, long long int, std::numeric_limits<long long>::min())
KS_TO_INTEGER(double, double, ull, unsigned long long int, 1ull << 63)
#undef KS_TO_INTEGER

// Integer to float, and double to float.
#define KS_TO_FLOAT_MODE(from, From, to, To, suffix, mode)                                         \
    KS_DEVICE To __##from##2##to##_##suffix(From x) KS_BODY({                                      \
        return ks_rounded<To>(mode, x, 0, [](From v, int) { return static_cast<To>(v); });         \
    })
#define KS_TO_FLOAT(from, From, to, To)                                                            \
    KS_DEVICE To __##from##2##to##_rn(From x) KS_BODY({ return static_cast<To>(x); })              \
    KS_TO_FLOAT_MODE(from, From, to, To, rz, FE_TOWARDZERO)                                        \
    KS_TO_FLOAT_MODE(from, From, to, To, ru, FE_UPWARD)                                            \
    KS_TO_FLOAT_MODE(from, From, to, To, rd, FE_DOWNWARD)
KS_TO_FLOAT(int, int, float, float)
KS_TO_FLOAT(uint, unsigned int, float, float)
KS_TO_FLOAT(ll, long long int, float, float)
KS_TO_FLOAT(ull, unsigned long long int, float, float)
KS_TO_FLOAT(ll, long long int, double, double)
KS_TO_FLOAT(ull, unsigned long long int, double, double)
KS_TO_FLOAT(double, double, float, float)
#undef KS_TO_FLOAT
#undef KS_TO_FLOAT_MODE
KS_DEVICE double __int2double_rn(int x) KS_BODY({ return x; })
KS_DEVICE double __uint2double_rn(unsigned int x) KS_BODY({ return x; })
