/// Shuffles, votes, matches and reductions among the lanes of a warp.
#pragma once

#include "kernelskill/conversions.h"

#ifdef KERNELSKILL_EMULATION
template <class T> KS_UNSEEN void ks_read_slot(T* result, const unsigned char* slot, unsigned done, unsigned bytes) {
    __builtin_memcpy(reinterpret_cast<char*>(result) + done, slot, bytes);
}
/// CUDA leaves the value undefined. This one is large as a number of any type, so whoever uses it computes
/// something else.
template <class T> KS_UNSEEN void ks_undefine(T* result, unsigned done, unsigned bytes) {
    __builtin_memset(reinterpret_cast<char*>(result) + done, 0x7e, bytes);
}
// Inlined, so that each use in a kernel is a call site of its own; the slots are read unseen.
/// The value that `source` holds; the lane's own if `source` is in the mask but takes no part.
template <class T> KS_INLINE T ks_from_lane(unsigned mask, T value, unsigned source) {
    T result = value;
    for (unsigned done = 0; done < sizeof(T); done += 16) {
        const unsigned bytes = sizeof(T) - done < 16 ? sizeof(T) - done : 16;
        unsigned arrived = 0;
        const unsigned char* slots =
            ks_warp_exchange(mask, reinterpret_cast<const char*>(&value) + done, bytes, &arrived);
        if (arrived >> source & 1u)
            ks_read_slot(&result, slots + 16 * source, done, bytes);
        else if (!(mask >> source & 1u))
            ks_undefine(&result, done, bytes);
    }
    return result;
}
/// Fills `all` with every lane's value; the result is the set of lanes that took part.
template <class T> KS_INLINE unsigned ks_from_all_lanes(unsigned mask, T value, T (&all)[32]) {
    unsigned arrived = 0;
    for (unsigned done = 0; done < sizeof(T); done += 16) {
        const unsigned bytes = sizeof(T) - done < 16 ? sizeof(T) - done : 16;
        const unsigned char* slots =
            ks_warp_exchange(mask, reinterpret_cast<const char*>(&value) + done, bytes, &arrived);
        for (unsigned lane = 0; lane < 32; ++lane)
            if (arrived >> lane & 1u)
                ks_read_slot(&all[lane], slots + 16 * lane, done, bytes);
    }
    return arrived;
}
/// Combines the values of the lanes in `mask`, in lane order.
template <class T, class Operation>
KS_UNSEEN T ks_fold(const T* all, unsigned arrived, T value, const Operation& operation) {
    T result = value;
    bool first = true;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(arrived >> lane & 1u))
            continue;
        result = first ? all[lane] : static_cast<T>(operation(result, all[lane]));
        first = false;
    }
    return result;
}
template <class T, class Operation>
KS_INLINE T ks_fold_lanes(unsigned mask, T value, const Operation& operation) {
    T all[32];
    const unsigned arrived = ks_from_all_lanes(mask, value, all);
    return ks_fold(all, arrived, value, operation);
}

KS_INLINE unsigned ks_shuffle_source(int lane, int width) {
    const unsigned segment = static_cast<unsigned>(width) - 1u;
    return (ks_lane() & ~segment) | (static_cast<unsigned>(lane) & segment);
}
KS_INLINE unsigned ks_shuffle_up_source(unsigned delta, int width) {
    const unsigned self = ks_lane();
    return (self & (static_cast<unsigned>(width) - 1u)) < delta ? self : self - delta;
}
KS_INLINE unsigned ks_shuffle_down_source(unsigned delta, int width) {
    const unsigned self = ks_lane();
    const unsigned place = self & (static_cast<unsigned>(width) - 1u);
    return delta >= static_cast<unsigned>(width) - place ? self : self + delta;
}
KS_INLINE unsigned ks_shuffle_xor_source(int laneMask, int width) {
    const unsigned self = ks_lane();
    const unsigned other = self ^ static_cast<unsigned>(laneMask);
    return other > (self | (static_cast<unsigned>(width) - 1u)) ? self : other;
}
#endif

/// The four shuffles of a type; cuda_fp16.h and cuda_bf16.h add theirs.
#define KS_SHUFFLES(T)                                                                             \
    KS_DEVICE T __shfl_sync(unsigned int mask, T value, int lane, int width = 32)                  \
        KS_BODY({ return ks_from_lane<T>(mask, value, ks_shuffle_source(lane, width)); })          \
    KS_DEVICE T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32)     \
        KS_BODY({ return ks_from_lane<T>(mask, value, ks_shuffle_up_source(delta, width)); })      \
    KS_DEVICE T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32)   \
        KS_BODY({ return ks_from_lane<T>(mask, value, ks_shuffle_down_source(delta, width)); })    \
    KS_DEVICE T __shfl_xor_sync(unsigned int mask, T value, int laneMask, int width = 32)          \
        KS_BODY({ return ks_from_lane<T>(mask, value, ks_shuffle_xor_source(laneMask, width)); })
KS_SHUFFLES(int)
KS_SHUFFLES(unsigned int)
KS_SHUFFLES(long int)
KS_SHUFFLES(unsigned long int)
KS_SHUFFLES(long long int)
KS_SHUFFLES(unsigned long long int)
KS_SHUFFLES(float)
KS_SHUFFLES(double)

#ifdef KERNELSKILL_EMULATION
KS_UNSEEN unsigned ks_votes(const unsigned char* slots, unsigned arrived) {
    unsigned result = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if ((arrived >> lane & 1u) && slots[16 * lane])
            result |= 1u << lane;
    return result;
}
KS_INLINE unsigned ks_ballot(unsigned mask, int predicate, unsigned* arrived) {
    const int value = predicate != 0;
    const unsigned char* slots = ks_warp_exchange(mask, &value, sizeof value, arrived);
    return ks_votes(slots, *arrived);
}
#endif
KS_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) KS_BODY({
    unsigned arrived = 0;
    return ks_ballot(mask, predicate, &arrived);
})
KS_DEVICE int __any_sync(unsigned int mask, int predicate)
    KS_BODY({ return __ballot_sync(mask, predicate) != 0; })
KS_DEVICE int __all_sync(unsigned int mask, int predicate) KS_BODY({
    unsigned arrived = 0;
    return ks_ballot(mask, predicate, &arrived) == arrived;
})
KS_DEVICE int __uni_sync(unsigned int mask, int predicate) KS_BODY({
    unsigned arrived = 0;
    const unsigned votes = ks_ballot(mask, predicate, &arrived);
    return votes == 0 || votes == arrived;
})
KS_DEVICE unsigned int __activemask() KS_BODY({ return ks_active_mask(); })

#ifdef KERNELSKILL_EMULATION
template <class T> KS_UNSEEN unsigned ks_same(const T* all, unsigned arrived, T value) {
    unsigned same = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if ((arrived >> lane & 1u) && __builtin_memcmp(&all[lane], &value, sizeof value) == 0)
            same |= 1u << lane;
    return same;
}
template <class T> KS_INLINE unsigned ks_match(unsigned mask, T value, unsigned* arrived) {
    T all[32];
    *arrived = ks_from_all_lanes(mask, value, all);
    return ks_same(all, *arrived, value);
}
#endif
#define KS_MATCHES(T)                                                                              \
    KS_DEVICE unsigned int __match_any_sync(unsigned int mask, T value) KS_BODY({                  \
        unsigned arrived = 0;                                                                      \
        return ks_match<T>(mask, value, &arrived);                                                 \
    })                                                                                             \
    KS_DEVICE unsigned int __match_all_sync(unsigned int mask, T value, int* allSame) KS_BODY({    \
        unsigned arrived = 0;                                                                      \
        *allSame = ks_match<T>(mask, value, &arrived) == arrived;                                  \
        return *allSame ? arrived : 0u;                                                            \
    })
KS_MATCHES(int)
KS_MATCHES(unsigned int)
KS_MATCHES(long int)
KS_MATCHES(unsigned long int)
KS_MATCHES(long long int)
KS_MATCHES(unsigned long long int)
KS_MATCHES(float)
KS_MATCHES(double)
#undef KS_MATCHES

#define KS_REDUCTION(name, T, expression)                                                          \
    KS_DEVICE T name(unsigned int mask, T value)                                                   \
        KS_BODY({ return ks_fold_lanes<T>(mask, value, [](T a, T b) -> T { return expression; }); })
KS_REDUCTION(__reduce_add_sync, unsigned int, a + b)
KS_REDUCTION(__reduce_add_sync, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
KS_REDUCTION(__reduce_min_sync, unsigned int, a < b ? a : b)
KS_REDUCTION(__reduce_min_sync, int, a < b ? a : b)
KS_REDUCTION(__reduce_max_sync, unsigned int, a > b ? a : b)
KS_REDUCTION(__reduce_max_sync, int, a > b ? a : b)
KS_REDUCTION(__reduce_and_sync, unsigned int, a& b)
KS_REDUCTION(__reduce_or_sync, unsigned int, a | b)
KS_REDUCTION(__reduce_xor_sync, unsigned int, a ^ b)
#undef KS_REDUCTION
