/// Atomic read-modify-write operations on every type that has one.
#pragma once

#include "kernelskill/conversions.h"
#include "vector_types.h"

#ifdef KERNELSKILL_EMULATION
template <unsigned bytes> struct KsWord;
template <> struct KsWord<2> {
    using Type = unsigned short;
};
template <> struct KsWord<4> {
    using Type = unsigned int;
};
template <> struct KsWord<8> {
    using Type = unsigned long long;
};

/// Replaces *address by operation(*address) and returns the old value, unseen by the race detector, which is
/// told through ks_atomic.
template <class T, class Operation> KS_UNSEEN T ks_update_unseen(T* address, const Operation& operation) {
    using Word = typename KsWord<sizeof(T)>::Type;
    typedef Word __attribute__((may_alias)) Cell;
    Cell* cell = reinterpret_cast<Cell*>(address);
    Word seen = __atomic_load_n(cell, __ATOMIC_RELAXED);
    for (;;) {
        const T old = ks_bit_cast<T>(seen);
        const Word next = ks_bit_cast<Word>(static_cast<T>(operation(old)));
        if (__atomic_compare_exchange_n(cell, &seen, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return old;
    }
}
template <class T, class Operation> KS_INLINE T ks_update(T* address, int scope, const Operation& operation) {
    ks_atomic(address, sizeof(T), scope);
    return ks_update_unseen(address, operation);
}
#endif

// The operation for the device, the block and the whole system. `old` names the value found.
#define KS_ATOMIC_SCOPE(name, T, scope, expression)                                                \
    KS_DEVICE T name(T* address, T value) KS_BODY({                                                \
        return ks_update(address, scope, [value](T old) -> T {                                    \
            static_cast<void>(old);                                                                \
            return expression;                                                                     \
        });                                                                                        \
    })
#define KS_ATOMIC(name, T, expression)                                                             \
    KS_ATOMIC_SCOPE(name##_block, T, 0, expression)                                                \
    KS_ATOMIC_SCOPE(name, T, 1, expression)                                                        \
    KS_ATOMIC_SCOPE(name##_system, T, 2, expression)

#define KS_ATOMIC_INTEGER(T)                                                                       \
    KS_ATOMIC(atomicMin, T, value < old ? value : old)                                             \
    KS_ATOMIC(atomicMax, T, value > old ? value : old)                                             \
    KS_ATOMIC(atomicAnd, T, old& value)                                                            \
    KS_ATOMIC(atomicOr, T, old | value)                                                            \
    KS_ATOMIC(atomicXor, T, old ^ value)
KS_ATOMIC_INTEGER(int)
KS_ATOMIC_INTEGER(unsigned int)
KS_ATOMIC_INTEGER(unsigned long long int)
KS_ATOMIC_INTEGER(unsigned long int)
KS_ATOMIC(atomicMin, long long int, value < old ? value : old)
KS_ATOMIC(atomicMax, long long int, value > old ? value : old)
KS_ATOMIC(atomicMin, long int, value < old ? value : old)
KS_ATOMIC(atomicMax, long int, value > old ? value : old)
KS_ATOMIC(atomicAnd, long long int, old& value)
KS_ATOMIC(atomicOr, long long int, old | value)
KS_ATOMIC(atomicXor, long long int, old ^ value)
#undef KS_ATOMIC_INTEGER

// Signed sums wrap, as the hardware's do.
KS_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
KS_ATOMIC(atomicAdd, unsigned int, old + value)
KS_ATOMIC(atomicAdd, unsigned long long int, old + value)
KS_ATOMIC(atomicAdd, unsigned long int, old + value)
KS_ATOMIC(atomicAdd, float, old + value)
KS_ATOMIC(atomicAdd, double, old + value)
KS_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
KS_ATOMIC(atomicSub, unsigned int, old - value)
KS_ATOMIC(atomicInc, unsigned int, old >= value ? 0u : old + 1u)
KS_ATOMIC(atomicDec, unsigned int, (old == 0u || old > value) ? value : old - 1u)
KS_ATOMIC(atomicExch, int, value)
KS_ATOMIC(atomicExch, unsigned int, value)
KS_ATOMIC(atomicExch, unsigned long long int, value)
KS_ATOMIC(atomicExch, unsigned long int, value)
KS_ATOMIC(atomicExch, float, value)

// Vectors: one request, each element atomic by itself.
#define KS_ATOMIC_VECTOR(name, T, scope, lanes)                                                    \
    KS_DEVICE T name(T* address, T value) KS_BODY({                                                \
        ks_atomic(address, sizeof(T), scope);                                                      \
        float* to = &address->x;                                                                   \
        const float* from = &value.x;                                                              \
        T old;                                                                                     \
        for (int i = 0; i < lanes; ++i)                                                            \
            (&old.x)[i] = ks_update_unseen(to + i, [from, i](float x) { return x + from[i]; });    \
        return old;                                                                                \
    })
#define KS_ATOMIC_VECTOR_SCOPES(T, lanes)                                                          \
    KS_ATOMIC_VECTOR(atomicAdd_block, T, 0, lanes)                                                 \
    KS_ATOMIC_VECTOR(atomicAdd, T, 1, lanes)                                                       \
    KS_ATOMIC_VECTOR(atomicAdd_system, T, 2, lanes)
KS_ATOMIC_VECTOR_SCOPES(float2, 2)
KS_ATOMIC_VECTOR_SCOPES(float4, 4)
#undef KS_ATOMIC_VECTOR_SCOPES
#undef KS_ATOMIC_VECTOR

#define KS_ATOMIC_CAS(name, T, scope)                                                              \
    KS_DEVICE T name(T* address, T compare, T value) KS_BODY({                                     \
        return ks_update(address, scope,                                                           \
                         [compare, value](T old) -> T { return old == compare ? value : old; });   \
    })
#define KS_ATOMIC_CAS_SCOPES(T)                                                                    \
    KS_ATOMIC_CAS(atomicCAS_block, T, 0)                                                           \
    KS_ATOMIC_CAS(atomicCAS, T, 1)                                                                 \
    KS_ATOMIC_CAS(atomicCAS_system, T, 2)
KS_ATOMIC_CAS_SCOPES(int)
KS_ATOMIC_CAS_SCOPES(unsigned int)
KS_ATOMIC_CAS_SCOPES(unsigned long long int)
KS_ATOMIC_CAS_SCOPES(unsigned long int)
KS_ATOMIC_CAS_SCOPES(unsigned short int)
#undef KS_ATOMIC_CAS_SCOPES
#undef KS_ATOMIC_CAS

// The other names of the same operations, which the CUDA headers expose as well.
KS_DEVICE int __iAtomicAdd(int* address, int value) KS_BODY({ return atomicAdd(address, value); })
KS_DEVICE float __fAtomicAdd(float* address, float value) KS_BODY({ return atomicAdd(address, value); })
