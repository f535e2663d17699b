/// Video instructions: two 16-bit or four 8-bit values in a 32-bit word.
#pragma once

#include "kernelskill/standard_library.h"

#ifdef KERNELSKILL_EMULATION
/// Applies `operation` to each Lane of a and b, taken as signed or unsigned integers.
template <class Lane, class Operation>
KS_INLINE unsigned ks_lanewise(unsigned a, unsigned b, Operation operation) {
    unsigned result = 0;
    for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Lane)) {
        const int x = static_cast<Lane>(a >> shift);
        const int y = static_cast<Lane>(b >> shift);
        const unsigned mask = (1u << (8 * sizeof(Lane))) - 1u;
        result |= (static_cast<unsigned>(operation(x, y)) & mask) << shift;
    }
    return result;
}
template <class Lane> KS_INLINE int ks_saturate_lane(int value) {
    const int low = std::numeric_limits<Lane>::min();
    const int high = std::numeric_limits<Lane>::max();
    return value < low ? low : value > high ? high : value;
}
#endif

#define KS_LANES(name, Lane, expression)                                                           \
    KS_DEVICE unsigned int name(unsigned int a, unsigned int b)                                    \
        KS_BODY({ return ks_lanewise<Lane>(a, b, [](int x, int y) { return expression; }); })
#define KS_LANES_BOTH(suffix, Lane, Unsigned)                                                      \
    KS_LANES(__vadd##suffix, Lane, x + y)                                                          \
    KS_LANES(__vsub##suffix, Lane, x - y)                                                          \
    KS_LANES(__vaddss##suffix, Lane, ks_saturate_lane<Lane>(x + y))                                \
    KS_LANES(__vaddus##suffix, Unsigned, ks_saturate_lane<Unsigned>(x + y))                        \
    KS_LANES(__vsubss##suffix, Lane, ks_saturate_lane<Lane>(x - y))                                \
    KS_LANES(__vsubus##suffix, Unsigned, ks_saturate_lane<Unsigned>(x - y))                        \
    KS_LANES(__vavgs##suffix, Lane, (x + y + (x + y >= 0)) >> 1)                                   \
    KS_LANES(__vavgu##suffix, Unsigned, (x + y + 1) >> 1)                                          \
    KS_LANES(__vhaddu##suffix, Unsigned, (x + y) >> 1)                                             \
    KS_LANES(__vabsdiffs##suffix, Lane, x > y ? x - y : y - x)                                     \
    KS_LANES(__vabsdiffu##suffix, Unsigned, x > y ? x - y : y - x)                                 \
    KS_LANES(__vmaxs##suffix, Lane, x > y ? x : y)                                                 \
    KS_LANES(__vmaxu##suffix, Unsigned, x > y ? x : y)                                             \
    KS_LANES(__vmins##suffix, Lane, x < y ? x : y)                                                 \
    KS_LANES(__vminu##suffix, Unsigned, x < y ? x : y)                                             \
    KS_LANES(__vcmpeq##suffix, Lane, x == y ? -1 : 0)                                              \
    KS_LANES(__vcmpne##suffix, Lane, x != y ? -1 : 0)                                              \
    KS_LANES(__vcmpgts##suffix, Lane, x > y ? -1 : 0)                                              \
    KS_LANES(__vcmpgtu##suffix, Unsigned, x > y ? -1 : 0)                                          \
    KS_LANES(__vcmpges##suffix, Lane, x >= y ? -1 : 0)                                             \
    KS_LANES(__vcmpgeu##suffix, Unsigned, x >= y ? -1 : 0)                                         \
    KS_LANES(__vcmplts##suffix, Lane, x < y ? -1 : 0)                                              \
    KS_LANES(__vcmpltu##suffix, Unsigned, x < y ? -1 : 0)                                          \
    KS_LANES(__vcmples##suffix, Lane, x <= y ? -1 : 0)                                             \
    KS_LANES(__vcmpleu##suffix, Unsigned, x <= y ? -1 : 0)                                         \
    KS_LANES(__vseteq##suffix, Lane, x == y)                                                       \
    KS_LANES(__vsetne##suffix, Lane, x != y)                                                       \
    KS_LANES(__vsetgts##suffix, Lane, x > y)                                                       \
    KS_LANES(__vsetgtu##suffix, Unsigned, x > y)                                                   \
    KS_LANES(__vsetges##suffix, Lane, x >= y)                                                      \
    KS_LANES(__vsetgeu##suffix, Unsigned, x >= y)                                                  \
    KS_LANES(__vsetlts##suffix, Lane, x < y)                                                       \
    KS_LANES(__vsetltu##suffix, Unsigned, x < y)                                                   \
    KS_LANES(__vsetles##suffix, Lane, x <= y)                                                      \
    KS_LANES(__vsetleu##suffix, Unsigned, x <= y)
KS_LANES_BOTH(2, short, unsigned short)
KS_LANES_BOTH(4, signed char, unsigned char)
#undef KS_LANES_BOTH
#undef KS_LANES

#define KS_LANES_ALONE(suffix, Lane, Unsigned)                                                     \
    KS_DEVICE unsigned int __vabs##suffix(unsigned int a)                                          \
        KS_BODY({ return ks_lanewise<Lane>(a, 0, [](int x, int) { return x < 0 ? -x : x; }); })    \
    KS_DEVICE unsigned int __vabsss##suffix(unsigned int a) KS_BODY({                              \
        return ks_lanewise<Lane>(                                                                  \
            a, 0, [](int x, int) { return ks_saturate_lane<Lane>(x < 0 ? -x : x); });              \
    })                                                                                             \
    KS_DEVICE unsigned int __vneg##suffix(unsigned int a)                                          \
        KS_BODY({ return ks_lanewise<Lane>(a, 0, [](int x, int) { return -x; }); })                \
    KS_DEVICE unsigned int __vnegss##suffix(unsigned int a) KS_BODY({                              \
        return ks_lanewise<Lane>(a, 0, [](int x, int) { return ks_saturate_lane<Lane>(-x); });     \
    })                                                                                             \
    KS_DEVICE unsigned int __vsads##suffix(unsigned int a, unsigned int b) KS_BODY({               \
        unsigned sum = 0;                                                                          \
        for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Lane)) {                          \
            const int x = static_cast<Lane>(a >> shift);                                           \
            const int y = static_cast<Lane>(b >> shift);                                           \
            sum += static_cast<unsigned>(x > y ? x - y : y - x);                                   \
        }                                                                                          \
        return sum;                                                                                \
    })                                                                                             \
    KS_DEVICE unsigned int __vsadu##suffix(unsigned int a, unsigned int b) KS_BODY({               \
        unsigned sum = 0;                                                                          \
        for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Lane)) {                          \
            const int x = static_cast<Unsigned>(a >> shift);                                       \
            const int y = static_cast<Unsigned>(b >> shift);                                       \
            sum += static_cast<unsigned>(x > y ? x - y : y - x);                                   \
        }                                                                                          \
        return sum;                                                                                \
    })
KS_LANES_ALONE(2, short, unsigned short)
KS_LANES_ALONE(4, signed char, unsigned char)
#undef KS_LANES_ALONE
