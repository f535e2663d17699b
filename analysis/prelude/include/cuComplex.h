/// Complex numbers as float2 and double2.
#pragma once
#define CU_COMPLEX_H_

#include "vector_functions.h"

#include <math.h>

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// `f` marks the float family in CUDA's names; cuCadd and cuCaddf differ in nothing else.
#define KS_COMPLEX(Complex, Real, make, real, imag, conjugate, add, sub, mul, div, abs_, sqrt_)    \
    KS_INLINE __host__ __device__ Real real(Complex z) { return z.x; }                     \
    KS_INLINE __host__ __device__ Real imag(Complex z) { return z.y; }                     \
    KS_INLINE __host__ __device__ Complex make(Real x, Real y) { return Complex{x, y}; }   \
    KS_INLINE __host__ __device__ Complex conjugate(Complex z) { return Complex{z.x, -z.y}; } \
    KS_INLINE __host__ __device__ Complex add(Complex a, Complex b) {                      \
        return Complex{a.x + b.x, a.y + b.y};                                                      \
    }                                                                                              \
    KS_INLINE __host__ __device__ Complex sub(Complex a, Complex b) {                      \
        return Complex{a.x - b.x, a.y - b.y};                                                      \
    }                                                                                              \
    KS_INLINE __host__ __device__ Complex mul(Complex a, Complex b) {                      \
        return Complex{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                              \
    }                                                                                              \
    KS_INLINE __host__ __device__ Complex div(Complex a, Complex b) {                      \
        const Real scale = (b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y);                        \
        const Complex u{a.x / scale, a.y / scale};                                                 \
        const Complex v{b.x / scale, b.y / scale};                                                 \
        const Real norm = v.x * v.x + v.y * v.y;                                                   \
        return Complex{(u.x * v.x + u.y * v.y) / norm, (u.y * v.x - u.x * v.y) / norm};            \
    }                                                                                              \
    KS_INLINE __host__ __device__ Real abs_(Complex z) {                                   \
        const Real a = z.x < 0 ? -z.x : z.x;                                                       \
        const Real b = z.y < 0 ? -z.y : z.y;                                                       \
        const Real high = a > b ? a : b;                                                           \
        const Real ratio = high == 0 ? 0 : (a > b ? b : a) / high;                                 \
        return high * sqrt_(1 + ratio * ratio);                                                    \
    }
KS_COMPLEX(cuFloatComplex, float, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf, cuCmulf,
           cuCdivf, cuCabsf, sqrtf)
KS_COMPLEX(cuDoubleComplex, double, make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul,
           cuCdiv, cuCabs, sqrt)
#undef KS_COMPLEX

KS_INLINE __host__ __device__ cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
KS_INLINE __host__ __device__ cuComplex cuCfmaf(cuComplex a, cuComplex b, cuComplex c) {
    return cuCaddf(cuCmulf(a, b), c);
}
KS_INLINE __host__ __device__ cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b,
                                                             cuDoubleComplex c) {
    return cuCadd(cuCmul(a, b), c);
}
KS_INLINE __host__ __device__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
    return cuDoubleComplex{z.x, z.y};
}
KS_INLINE __host__ __device__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return cuFloatComplex{static_cast<float>(z.x), static_cast<float>(z.y)};
}
