/// Bit manipulation, wide and narrow multiplication, dot products and byte permutation.
#pragma once

#include "kernelskill/standard_library.h"
#include "vector_types.h"

KS_DEVICE int __clz(int x) KS_BODY({ return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; })
KS_DEVICE int __clzll(long long int x)
    KS_BODY({ return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; })
KS_DEVICE int __ffs(int x) KS_BODY({ return __builtin_ffs(x); })
KS_DEVICE int __ffsll(long long int x) KS_BODY({ return __builtin_ffsll(x); })
KS_DEVICE int __popc(unsigned int x) KS_BODY({ return __builtin_popcount(x); })
KS_DEVICE int __popcll(unsigned long long int x) KS_BODY({ return __builtin_popcountll(x); })

KS_DEVICE unsigned int __brev(unsigned int x) KS_BODY({
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(x);
})
KS_DEVICE unsigned long long int __brevll(unsigned long long int x) KS_BODY({
    return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32) |
           __brev(static_cast<unsigned>(x >> 32));
})

/// Selector nibble: low three bits pick a byte of {y, x}; the high bit spreads that byte's sign.
KS_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) KS_BODY({
    const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned nibble = (selector >> (4 * i)) & 0xfu;
        unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7u))) & 0xffu;
        if (nibble & 8u)
            byte = (byte & 0x80u) ? 0xffu : 0u;
        result |= byte << (8 * i);
    }
    return result;
})

KS_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) KS_BODY({
    shift &= 31;
    return shift ? (high << shift) | (low >> (32 - shift)) : high;
})
KS_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) KS_BODY({
    shift &= 31;
    return shift ? (high << (32 - shift)) | (low >> shift) : low;
})
KS_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
    KS_BODY({ return shift >= 32 ? low : __funnelshift_l(low, high, shift); })
KS_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
    KS_BODY({ return shift >= 32 ? high : __funnelshift_r(low, high, shift); })

KS_DEVICE int __mulhi(int x, int y)
    KS_BODY({ return static_cast<int>((static_cast<long long>(x) * y) >> 32); })
KS_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y)
    KS_BODY({ return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32); })
KS_DEVICE long long int __mul64hi(long long int x, long long int y)
    KS_BODY({ return static_cast<long long>((static_cast<__int128>(x) * y) >> 64); })
KS_DEVICE unsigned long long int __umul64hi(unsigned long long int x, unsigned long long int y)
    KS_BODY({ return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64); })
KS_DEVICE int __mul24(int x, int y) KS_BODY({
    return static_cast<int>(static_cast<unsigned>((static_cast<int>(static_cast<unsigned>(x) << 8) >> 8)) *
                            static_cast<unsigned>((static_cast<int>(static_cast<unsigned>(y) << 8) >> 8)));
})
KS_DEVICE unsigned int __umul24(unsigned int x, unsigned int y)
    KS_BODY({ return (x & 0xffffffu) * (y & 0xffffffu); })
KS_DEVICE int mul24(int x, int y) KS_BODY({ return __mul24(x, y); })
KS_DEVICE unsigned int umul24(unsigned int x, unsigned int y) KS_BODY({ return __umul24(x, y); })
KS_DEVICE int mulhi(int x, int y) KS_BODY({ return __mulhi(x, y); })
KS_DEVICE unsigned int mulhi(unsigned int x, unsigned int y) KS_BODY({ return __umulhi(x, y); })
KS_DEVICE unsigned int mulhi(int x, unsigned int y)
    KS_BODY({ return __umulhi(static_cast<unsigned>(x), y); })
KS_DEVICE unsigned int mulhi(unsigned int x, int y)
    KS_BODY({ return __umulhi(x, static_cast<unsigned>(y)); })
KS_DEVICE unsigned int umulhi(unsigned int x, unsigned int y) KS_BODY({ return __umulhi(x, y); })
KS_DEVICE long long int mul64hi(long long int x, long long int y) KS_BODY({ return __mul64hi(x, y); })

KS_DEVICE unsigned int __sad(int x, int y, unsigned int z) KS_BODY({
    const long long difference = static_cast<long long>(x) - y;
    return z + static_cast<unsigned>(difference < 0 ? -difference : difference);
})
KS_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z)
    KS_BODY({ return z + (x > y ? x - y : y - x); })
KS_DEVICE int __hadd(int x, int y)
    KS_BODY({ return static_cast<int>((static_cast<long long>(x) + y) >> 1); })
KS_DEVICE int __rhadd(int x, int y)
    KS_BODY({ return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); })
KS_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y)
    KS_BODY({ return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1); })
KS_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y)
    KS_BODY({ return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1); })

// Four 8-bit products, or two 16-bit by 8-bit ones from the low or high half, added to c.
#define KS_DOT(name, result, first, second, Element1, Element2, count, offset)                     \
    KS_DEVICE result name(first a, second b, result c) KS_BODY({                                   \
        const unsigned long long x = static_cast<unsigned>(a);                                     \
        const unsigned long long y = static_cast<unsigned>(b) >> (8 * (offset));                   \
        unsigned sum = static_cast<unsigned>(c);                                                   \
        for (unsigned i = 0; i < (count); ++i)                                                     \
            sum += static_cast<unsigned>(static_cast<Element1>(x >> (i * 8 * sizeof(Element1)))) * \
                   static_cast<unsigned>(static_cast<Element2>(y >> (i * 8 * sizeof(Element2))));  \
        return static_cast<result>(sum);                                                           \
    })
KS_DOT(__dp4a, int, int, int, signed char, signed char, 4, 0)
KS_DOT(__dp4a, unsigned int, unsigned int, unsigned int, unsigned char, unsigned char, 4, 0)
KS_DOT(__dp2a_lo, int, int, int, short, signed char, 2, 0)
KS_DOT(__dp2a_lo, unsigned int, unsigned int, unsigned int, unsigned short, unsigned char, 2, 0)
KS_DOT(__dp2a_hi, int, int, int, short, signed char, 2, 2)
KS_DOT(__dp2a_hi, unsigned int, unsigned int, unsigned int, unsigned short, unsigned char, 2, 2)
#undef KS_DOT
KS_DEVICE int __dp4a(char4 a, char4 b, int c)
    KS_BODY({ return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; })
KS_DEVICE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) KS_BODY({
    return c + static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
})
