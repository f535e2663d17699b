/// min and max in every mix of types for which nvcc has an overload, on both sides.
#pragma once

#include "kernelskill/standard_library.h"

#define KS_MIN_MAX(result, first, second)                                                          \
    KS_INLINE KS_SIDES result min(first a, second b) {                                             \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)            \
                                                               : static_cast<result>(b);           \
    }                                                                                              \
    KS_INLINE KS_SIDES result max(first a, second b) {                                             \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b)            \
                                                               : static_cast<result>(a);           \
    }
#define KS_SIDES __host__ __device__
KS_MIN_MAX(int, int, int)
KS_MIN_MAX(unsigned int, unsigned int, unsigned int)
KS_MIN_MAX(unsigned int, int, unsigned int)
KS_MIN_MAX(unsigned int, unsigned int, int)
KS_MIN_MAX(long int, long int, long int)
KS_MIN_MAX(unsigned long int, unsigned long int, unsigned long int)
KS_MIN_MAX(unsigned long int, long int, unsigned long int)
KS_MIN_MAX(unsigned long int, unsigned long int, long int)
KS_MIN_MAX(long long int, long long int, long long int)
KS_MIN_MAX(unsigned long long int, unsigned long long int, unsigned long long int)
KS_MIN_MAX(unsigned long long int, long long int, unsigned long long int)
KS_MIN_MAX(unsigned long long int, unsigned long long int, long long int)
#undef KS_MIN_MAX

// A NaN loses against a number, as fmin and fmax have it.
#define KS_MIN_MAX(result, first, second, fmin_, fmax_)                                            \
    KS_INLINE KS_SIDES result min(first a, second b) { return fmin_(a, b); }                       \
    KS_INLINE KS_SIDES result max(first a, second b) { return fmax_(a, b); }
KS_MIN_MAX(float, float, float, fminf, fmaxf)
KS_MIN_MAX(double, double, double, fmin, fmax)
KS_MIN_MAX(double, float, double, fmin, fmax)
KS_MIN_MAX(double, double, float, fmin, fmax)
#undef KS_MIN_MAX
#undef KS_SIDES

KS_INLINE __host__ __device__ unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
KS_INLINE __host__ __device__ unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
KS_INLINE __host__ __device__ long long int llmin(long long int a, long long int b) { return min(a, b); }
KS_INLINE __host__ __device__ long long int llmax(long long int a, long long int b) { return max(a, b); }
KS_INLINE __host__ __device__ unsigned long long int ullmin(unsigned long long int a,
                                                            unsigned long long int b) {
    return min(a, b);
}
KS_INLINE __host__ __device__ unsigned long long int ullmax(unsigned long long int a,
                                                            unsigned long long int b) {
    return max(a, b);
}
