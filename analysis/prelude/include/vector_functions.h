/// make_float4 and its like.
#pragma once
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define KS_MAKE_VECTORS(name, scalar)                                                              \
    KS_INLINE KS_SIDES constexpr name##1 make_##name##1(scalar x) { return name##1{x}; }           \
    KS_INLINE KS_SIDES constexpr name##2 make_##name##2(scalar x, scalar y) {                      \
        return name##2{x, y};                                                                      \
    }                                                                                              \
    KS_INLINE KS_SIDES constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) {            \
        return name##3{x, y, z};                                                                   \
    }                                                                                              \
    KS_INLINE KS_SIDES constexpr name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) {  \
        return name##4{x, y, z, w};                                                                \
    }

#define KS_SIDES __host__ __device__
KS_MAKE_VECTORS(char, signed char)
KS_MAKE_VECTORS(uchar, unsigned char)
KS_MAKE_VECTORS(short, short)
KS_MAKE_VECTORS(ushort, unsigned short)
KS_MAKE_VECTORS(int, int)
KS_MAKE_VECTORS(uint, unsigned int)
KS_MAKE_VECTORS(long, long int)
KS_MAKE_VECTORS(ulong, unsigned long int)
KS_MAKE_VECTORS(longlong, long long int)
KS_MAKE_VECTORS(ulonglong, unsigned long long int)
KS_MAKE_VECTORS(float, float)
KS_MAKE_VECTORS(double, double)
#undef KS_MAKE_VECTORS

#define KS_MAKE_ALIGNED(name, scalar)                                                              \
    KS_INLINE KS_SIDES constexpr name##_16a make_##name##_16a(scalar x, scalar y, scalar z,        \
                                                              scalar w) {                          \
        return name##_16a{x, y, z, w};                                                             \
    }                                                                                              \
    KS_INLINE KS_SIDES constexpr name##_32a make_##name##_32a(scalar x, scalar y, scalar z,        \
                                                              scalar w) {                          \
        return name##_32a{x, y, z, w};                                                             \
    }
KS_MAKE_ALIGNED(long4, long int)
KS_MAKE_ALIGNED(ulong4, unsigned long int)
KS_MAKE_ALIGNED(longlong4, long long int)
KS_MAKE_ALIGNED(ulonglong4, unsigned long long int)
KS_MAKE_ALIGNED(double4, double)
#undef KS_MAKE_ALIGNED
#undef KS_SIDES
