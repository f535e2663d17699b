/// Mathematical functions that CUDA has and the C library lacks, on both sides.
#pragma once

#include "kernelskill/conversions.h"
#include "kernelskill/min_max.h"

#ifdef KERNELSKILL_EMULATION
// C23's functions, as glibc took them in. They are C's: those of float have other names.
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 41)
#define KS_LIBC_HAS_SINPI 1
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 42)
#define KS_LIBC_HAS_RSQRT 1
#endif
/// sin(pi x) and cos(pi x) with the argument reduced first, so that integers give exact results.
template <class T> KS_INLINE T ks_sinpi(T x) {
    const T reduced = std::remainder(x, T(2));
    return std::fabs(reduced) == T(1) ? std::copysign(T(0), reduced)
                                      : std::sin(T(3.14159265358979323846) * reduced);
}
template <class T> KS_INLINE T ks_cospi(T x) {
    const T reduced = std::fabs(std::remainder(x, T(2)));
    return reduced == T(0.5) ? T(0) : std::cos(T(3.14159265358979323846) * reduced);
}
/// Inverse of the normal distribution function: Acklam's start, two Halley steps on erfc.
KS_INLINE double ks_normcdfinv(double p) {
    if (!(p > 0))
        return p == 0 ? -HUGE_VAL : static_cast<double>(NAN);
    if (!(p < 1))
        return p == 1 ? HUGE_VAL : static_cast<double>(NAN);
    const double tail = p < 0.5 ? p : 1 - p;
    const double t = std::sqrt(-2 * std::log(tail));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    if (p < 0.5)
        x = -x;
    for (int step = 0; step < 3; ++step) {
        const double error = 0.5 * std::erfc(-x * 0.70710678118654752440) - p;
        const double u = error * 2.50662827463100050242 * std::exp(x * x / 2);
        x -= u / (1 + x * u / 2);
    }
    return x;
}
/// erfc(x) exp(x²); the asymptotic series where the product would overflow.
KS_INLINE double ks_erfcx(double x) {
    if (x < 25)
        return std::exp(x * x) * std::erfc(x);
    double term = 1;
    double sum = 1;
    for (int k = 1; k < 10; ++k) {
        term *= -(2 * k - 1) / (2 * x * x);
        sum += term;
    }
    return 0.56418958354775628695 / x * sum;
}
/// Modified Bessel functions of the first kind by their power series.
KS_INLINE double ks_bessel_i(int order, double x) {
    double term = order == 0 ? 1 : x / 2;
    double sum = term;
    for (int k = 1; k < 500 && std::fabs(term) > 1e-17 * std::fabs(sum); ++k) {
        term *= x * x / 4 / k / (k + order);
        sum += term;
    }
    return sum;
}
#endif

#define KS_MATH1(name, expression)                                                                 \
    KS_HOST_DEVICE double name(double x) KS_BODY({                                                 \
        KS_OPERATION(#name);                                                                       \
        return expression;                                                                         \
    })                                                                                             \
    KS_HOST_DEVICE float name##f(float a) KS_BODY({                                                \
        KS_OPERATION(#name "f");                                                                   \
        const double x = a;                                                                        \
        return static_cast<float>(expression);                                                     \
    })
#ifndef KS_LIBC_HAS_RSQRT
KS_MATH1(rsqrt, 1 / std::sqrt(x))
#endif
#ifndef KS_LIBC_HAS_SINPI
KS_MATH1(sinpi, ks_sinpi(x))
KS_MATH1(cospi, ks_cospi(x))
#endif
KS_HOST_DEVICE float rsqrt(float x) KS_BODY({ return rsqrtf(x); })
KS_HOST_DEVICE float sinpi(float x) KS_BODY({ return sinpif(x); })
KS_HOST_DEVICE float cospi(float x) KS_BODY({ return cospif(x); })
KS_MATH1(rcbrt, 1 / std::cbrt(x))
KS_MATH1(normcdf, 0.5 * std::erfc(-x * 0.70710678118654752440))
KS_MATH1(normcdfinv, ks_normcdfinv(x))
KS_MATH1(erfinv, 0.70710678118654752440 * ks_normcdfinv((x + 1) / 2))
KS_MATH1(erfcinv, -0.70710678118654752440 * ks_normcdfinv(x / 2))
KS_MATH1(erfcx, ks_erfcx(x))
KS_MATH1(cyl_bessel_i0, ks_bessel_i(0, x))
KS_MATH1(cyl_bessel_i1, ks_bessel_i(1, x))
#undef KS_MATH1
KS_HOST_DEVICE float rcbrt(float x) KS_BODY({ return rcbrtf(x); })
KS_HOST_DEVICE float normcdf(float x) KS_BODY({ return normcdff(x); })
KS_HOST_DEVICE float normcdfinv(float x) KS_BODY({ return normcdfinvf(x); })
KS_HOST_DEVICE float erfinv(float x) KS_BODY({ return erfinvf(x); })
KS_HOST_DEVICE float erfcinv(float x) KS_BODY({ return erfcinvf(x); })
KS_HOST_DEVICE float erfcx(float x) KS_BODY({ return erfcxf(x); })

KS_HOST_DEVICE void sincospi(double x, double* sine, double* cosine) KS_BODY({
    KS_OPERATION("sincospi");
    *sine = ks_sinpi(x);
    *cosine = ks_cospi(x);
})
KS_HOST_DEVICE void sincospif(float x, float* sine, float* cosine) KS_BODY({
    KS_OPERATION("sincospif");
    *sine = static_cast<float>(ks_sinpi<double>(x));
    *cosine = static_cast<float>(ks_cospi<double>(x));
})
KS_HOST_DEVICE void sincospi(float x, float* sine, float* cosine)
    KS_BODY({ sincospif(x, sine, cosine); })
KS_HOST_DEVICE void sincos(float x, float* sine, float* cosine) KS_BODY({
    KS_OPERATION("sincosf");
    *sine = std::sin(x);
    *cosine = std::cos(x);
})

KS_HOST_DEVICE double rhypot(double x, double y) KS_BODY({
    KS_OPERATION("rhypot");
    return 1 / std::hypot(x, y);
})
KS_HOST_DEVICE float rhypotf(float x, float y) KS_BODY({
    KS_OPERATION("rhypotf");
    return static_cast<float>(1 / std::hypot(static_cast<double>(x), static_cast<double>(y)));
})
KS_HOST_DEVICE double norm3d(double a, double b, double c) KS_BODY({
    KS_OPERATION("norm3d");
    return std::hypot(std::hypot(a, b), c);
})
KS_HOST_DEVICE float norm3df(float a, float b, float c)
    KS_BODY({ return static_cast<float>(norm3d(a, b, c)); })
KS_HOST_DEVICE double rnorm3d(double a, double b, double c) KS_BODY({ return 1 / norm3d(a, b, c); })
KS_HOST_DEVICE float rnorm3df(float a, float b, float c)
    KS_BODY({ return static_cast<float>(rnorm3d(a, b, c)); })
KS_HOST_DEVICE double norm4d(double a, double b, double c, double d) KS_BODY({
    KS_OPERATION("norm4d");
    return std::hypot(std::hypot(a, b), std::hypot(c, d));
})
KS_HOST_DEVICE float norm4df(float a, float b, float c, float d)
    KS_BODY({ return static_cast<float>(norm4d(a, b, c, d)); })
KS_HOST_DEVICE double rnorm4d(double a, double b, double c, double d)
    KS_BODY({ return 1 / norm4d(a, b, c, d); })
KS_HOST_DEVICE float rnorm4df(float a, float b, float c, float d)
    KS_BODY({ return static_cast<float>(rnorm4d(a, b, c, d)); })
KS_HOST_DEVICE double norm(int count, const double* values) KS_BODY({
    KS_OPERATION("norm");
    double sum = 0;
    for (int i = 0; i < count; ++i)
        sum = std::hypot(sum, values[i]);
    return sum;
})
KS_HOST_DEVICE float normf(int count, const float* values) KS_BODY({
    KS_OPERATION("normf");
    double sum = 0;
    for (int i = 0; i < count; ++i)
        sum = std::hypot(sum, static_cast<double>(values[i]));
    return static_cast<float>(sum);
})
KS_HOST_DEVICE double rnorm(int count, const double* values)
    KS_BODY({ return 1 / norm(count, values); })
KS_HOST_DEVICE float rnormf(int count, const float* values)
    KS_BODY({ return 1 / normf(count, values); })
KS_HOST_DEVICE float fdividef(float a, float b) KS_BODY({
    KS_OPERATION("fdiv");
    return a / b;
})
KS_HOST_DEVICE double fdivide(double a, double b) KS_BODY({
    KS_OPERATION("ddiv");
    return a / b;
})
KS_HOST_DEVICE float fdivide(float a, float b) KS_BODY({
    KS_OPERATION("fdiv");
    return a / b;
})
KS_HOST_DEVICE float exp10(float x) KS_BODY({
    KS_OPERATION("exp10f");
    return static_cast<float>(std::pow(10.0, static_cast<double>(x)));
})
