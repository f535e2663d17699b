/// cuRAND's device interface: Philox and XORWOW.
///
/// Philox follows its published definition. XORWOW's recurrence is Marsaglia's, but subsequences are told apart by
/// hashing, not by skipping 2^67 numbers ahead: streams are as independent, the numbers differ from the GPU's.
#pragma once
#define CURAND_KERNEL_H_

#include "curand.h"
#include "kernelskill/math_intrinsics.h"
#include "vector_functions.h"

struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr;
    uint4 output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
/// The combined multiple recursive generator's place is taken by Philox, whose state has the same use.
struct curandStateMRG32k3a : curandStatePhilox4_32_10 {};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

#ifdef KERNELSKILL_EMULATION
KS_INLINE unsigned long long ks_mixed(unsigned long long x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
KS_INLINE uint4 ks_philox(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const unsigned long long first = 0xD2511F53ull * counter.x;
        const unsigned long long second = 0xCD9E8D57ull * counter.z;
        counter = uint4{static_cast<unsigned>(second >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(second),
                        static_cast<unsigned>(first >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(first)};
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}
/// Moves the 128-bit counter on by `steps`, from word `from` upwards.
KS_INLINE void ks_advance(uint4* counter, unsigned long long steps, bool highHalf) {
    unsigned __int128 value = (static_cast<unsigned __int128>(counter->w) << 96) |
                              (static_cast<unsigned __int128>(counter->z) << 64) |
                              (static_cast<unsigned __int128>(counter->y) << 32) | counter->x;
    value += static_cast<unsigned __int128>(steps) << (highHalf ? 64 : 0);
    *counter = uint4{static_cast<unsigned>(value), static_cast<unsigned>(value >> 32),
                     static_cast<unsigned>(value >> 64), static_cast<unsigned>(value >> 96)};
}
#endif

KS_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStatePhilox4_32_10_t* state) KS_BODY({
    *state = curandStatePhilox4_32_10_t{};
    state->key = uint2{static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
    ks_advance(&state->ctr, subsequence, true);
    ks_advance(&state->ctr, offset / 4, false);
    state->STATE = offset % 4;
    state->output = ks_philox(state->ctr, state->key);
})
KS_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStateMRG32k3a_t* state)
    KS_BODY({ curand_init(seed, subsequence, offset, static_cast<curandStatePhilox4_32_10_t*>(state)); })

KS_DEVICE unsigned int curand(curandStatePhilox4_32_10_t* state) KS_BODY({
    const unsigned words[4] = {state->output.x, state->output.y, state->output.z, state->output.w};
    const unsigned result = words[state->STATE];
    if (++state->STATE == 4) {
        state->STATE = 0;
        ks_advance(&state->ctr, 1, false);
        state->output = ks_philox(state->ctr, state->key);
    }
    return result;
})
KS_DEVICE uint4 curand4(curandStatePhilox4_32_10_t* state) KS_BODY({
    uint4 result;
    result.x = curand(state);
    result.y = curand(state);
    result.z = curand(state);
    result.w = curand(state);
    return result;
})
KS_DEVICE unsigned int curand(curandStateXORWOW_t* state) KS_BODY({
    const unsigned t = state->v[0] ^ (state->v[0] >> 2);
    for (int i = 0; i < 4; ++i)
        state->v[i] = state->v[i + 1];
    state->v[4] = (state->v[4] ^ (state->v[4] << 4)) ^ (t ^ (t << 1));
    state->d += 362437;
    return state->v[4] + state->d;
})
KS_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStateXORWOW_t* state) KS_BODY({
    *state = curandStateXORWOW_t{};
    unsigned long long hash = ks_mixed(seed + 0x9e3779b97f4a7c15ull) ^ subsequence;
    for (int i = 0; i < 5; ++i) {
        hash = ks_mixed(hash + 0x9e3779b97f4a7c15ull);
        state->v[i] = static_cast<unsigned>(hash) | 1u;
    }
    state->d = static_cast<unsigned>(hash >> 32);
    for (unsigned long long i = 0; i < offset; ++i)
        curand(state);
})
KS_DEVICE void skipahead(unsigned long long count, curandStateXORWOW_t* state) KS_BODY({
    for (unsigned long long i = 0; i < count; ++i)
        curand(state);
})

// Uniform in (0, 1], normal by Box and Muller, and what follows from them.
#define KS_DISTRIBUTIONS(State)                                                                    \
    KS_DEVICE float curand_uniform(State* state)                                                   \
        KS_BODY({ return static_cast<float>(curand(state)) * 2.3283064e-10f + 1.1641532e-10f; })   \
    KS_DEVICE double curand_uniform_double(State* state) KS_BODY({                                 \
        const unsigned long long low = curand(state);                                              \
        const unsigned long long high = curand(state);                                             \
        return static_cast<double>(((high << 32) | low) >> 11) * 1.1102230246251565e-16 +          \
               5.5511151231257827e-17;                                                             \
    })                                                                                             \
    KS_DEVICE float2 curand_normal2(State* state) KS_BODY({                                        \
        const float radius = std::sqrt(-2.0f * std::log(curand_uniform(state)));                   \
        const float angle = 6.28318531f * curand_uniform(state);                                   \
        return float2{radius * std::sin(angle), radius * std::cos(angle)};                         \
    })                                                                                             \
    KS_DEVICE float curand_normal(State* state) KS_BODY({                                          \
        if (state->boxmuller_flag) {                                                               \
            state->boxmuller_flag = 0;                                                             \
            return state->boxmuller_extra;                                                         \
        }                                                                                          \
        const float2 pair = curand_normal2(state);                                                 \
        state->boxmuller_flag = 1;                                                                 \
        state->boxmuller_extra = pair.y;                                                           \
        return pair.x;                                                                             \
    })                                                                                             \
    KS_DEVICE double2 curand_normal2_double(State* state) KS_BODY({                                \
        const double radius = std::sqrt(-2.0 * std::log(curand_uniform_double(state)));            \
        const double angle = 6.283185307179586 * curand_uniform_double(state);                     \
        return double2{radius * std::sin(angle), radius * std::cos(angle)};                        \
    })                                                                                             \
    KS_DEVICE double curand_normal_double(State* state)                                            \
        KS_BODY({ return curand_normal2_double(state).x; })                                        \
    KS_DEVICE float curand_log_normal(State* state, float mean, float deviation)                   \
        KS_BODY({ return std::exp(mean + deviation * curand_normal(state)); })                     \
    KS_DEVICE unsigned int curand_poisson(State* state, double lambda) KS_BODY({                   \
        const double limit = std::exp(-lambda);                                                    \
        unsigned count = 0;                                                                        \
        for (double product = curand_uniform_double(state); product > limit; ++count)              \
            product *= curand_uniform_double(state);                                               \
        return count;                                                                              \
    })
KS_DISTRIBUTIONS(curandStateXORWOW_t)
KS_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
#undef KS_DISTRIBUTIONS

KS_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10_t* state) KS_BODY({
    float4 result;
    result.x = curand_uniform(state);
    result.y = curand_uniform(state);
    result.z = curand_uniform(state);
    result.w = curand_uniform(state);
    return result;
})
KS_DEVICE float4 curand_normal4(curandStatePhilox4_32_10_t* state) KS_BODY({
    const float2 first = curand_normal2(state);
    const float2 second = curand_normal2(state);
    return float4{first.x, first.y, second.x, second.y};
})
