/// CUDA's built-in vector types: uchar4, int2, float4, dim3, ...
#pragma once
#define __VECTOR_TYPES_H__

#include "kernelskill/language.h"

#define KS_VECTORS(name, scalar, align2, align4)                                                   \
    struct name##1 {                                                                               \
        scalar x;                                                                                  \
    };                                                                                             \
    struct __attribute__((aligned(align2))) name##2 {                                              \
        scalar x, y;                                                                               \
    };                                                                                             \
    struct name##3 {                                                                               \
        scalar x, y, z;                                                                            \
    };                                                                                             \
    struct __attribute__((aligned(align4))) name##4 {                                              \
        scalar x, y, z, w;                                                                         \
    };

KS_VECTORS(char, signed char, 2, 4)
KS_VECTORS(uchar, unsigned char, 2, 4)
KS_VECTORS(short, short, 4, 8)
KS_VECTORS(ushort, unsigned short, 4, 8)
KS_VECTORS(int, int, 8, 16)
KS_VECTORS(uint, unsigned int, 8, 16)
KS_VECTORS(long, long int, 16, 16)
KS_VECTORS(ulong, unsigned long int, 16, 16)
KS_VECTORS(longlong, long long int, 16, 16)
KS_VECTORS(ulonglong, unsigned long long int, 16, 16)
KS_VECTORS(float, float, 8, 16)
KS_VECTORS(double, double, 16, 16)
#undef KS_VECTORS

#define KS_ALIGNED_VECTOR(name, scalar)                                                            \
    struct __attribute__((aligned(16))) name##_16a {                                               \
        scalar x, y, z, w;                                                                         \
    };                                                                                             \
    struct __attribute__((aligned(32))) name##_32a {                                               \
        scalar x, y, z, w;                                                                         \
    };
KS_ALIGNED_VECTOR(long4, long int)
KS_ALIGNED_VECTOR(ulong4, unsigned long int)
KS_ALIGNED_VECTOR(longlong4, long long int)
KS_ALIGNED_VECTOR(ulonglong4, unsigned long long int)
KS_ALIGNED_VECTOR(double4, double)
#undef KS_ALIGNED_VECTOR

struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
    KS_HOST_DEVICE_MEMBER constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    KS_HOST_DEVICE_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    KS_HOST_DEVICE_MEMBER constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
