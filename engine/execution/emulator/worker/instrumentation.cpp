// Functions that g++ calls with -fsanitize=thread and -fsanitize-coverage=trace-pc. g++ defines
// their names and signatures.
#include "engine/execution/emulator/worker/instrumentation.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace kernelskill::engine::emulator {

constinit HookState hookState;

namespace {

/// An access with the memory order of a compiler's builtin.
constexpr SyncAccess ordered(int order, bool reads, bool writes) {
    SyncAccess access;
    access.reads = reads;
    access.writes = writes;
    access.acquires = reads && order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
    access.releases = writes && order >= __ATOMIC_RELEASE;
    return access;
}

constexpr SyncAccess volatileRead = ordered(__ATOMIC_RELAXED, true, false);
constexpr SyncAccess volatileWrite = ordered(__ATOMIC_RELAXED, false, true);

template <EventKind kind, unsigned bytes>
[[gnu::noinline]] void anyAligned(const void* address, const void* returnAddress) {
    const auto value = reinterpret_cast<std::uint64_t>(address);
    if ((value & (bytes - 1)) != 0 && !isPrivate(value)) [[unlikely]]
        hookState.launch->misaligned(kind, value, bytes, returnAddress);
    onAccess<kind>(address, bytes, returnAddress);
}

template <EventKind kind, unsigned bytes>
[[gnu::always_inline]] inline void aligned(const void* address, const void* returnAddress) {
    const auto value = reinterpret_cast<std::uint64_t>(address);
    if constexpr (bytes % 4 == 0) {
        if ((value & (bytes - 1)) == 0 && passUsual<kind, bytes>(value, returnAddress)) [[likely]]
            return;
    }
    anyAligned<kind, bytes>(address, returnAddress);
}

template <EventKind kind>
[[gnu::noinline]] void onBlockWithoutRoom(const void* returnAddress) {
    if (hookState.launch == nullptr)
        return; // In a static initialiser of the image.
    logEvent<kind>(0, 0, returnAddress);
}

template <EventKind kind>
[[gnu::always_inline]] inline void onBlock(const void* returnAddress) {
    // Without a launch there is no room either.
    if (hookState.row == hookState.limit) [[unlikely]] {
        onBlockWithoutRoom<kind>(returnAddress);
        return;
    }
    addEvent<kind>(siteOf(returnAddress), 0, 0);
}

/// Warps in lock-step communicate through volatile accesses: each lane performs its own before any
/// lane continues to its next one.
template <EventKind kind>
[[gnu::always_inline]] inline void volatileAccess(const void* address, unsigned bytes,
                                                  const void* returnAddress, SyncAccess access) {
    const auto value = reinterpret_cast<std::uint64_t>(address);
    if (isPrivate(value))
        return;
    if (!hookState.checker->isShared(value))
        hookState.launch->dependOnOtherBlocks();
    hookState.launch->volatileAccess();
    access.address = value;
    onAccess<kind>(address, bytes, returnAddress, true, &access);
}

/// The arguments of the function that code compiled with -fsanitize=bounds calls on an index beyond
/// an array. The layout is that of GCC's libubsan.
struct ArrayType {
    std::uint16_t kind;
    std::uint16_t details;
    char name[1]; ///< "'float [4]'", to its terminating zero.
};
struct ArrayAccess {
    const char* file;
    std::uint32_t line;
    std::uint32_t column;
    const ArrayType* array;
    const ArrayType* index;
};

/// The arguments of the function that code compiled with -fsanitize=object-size calls on an access
/// beyond an object.
struct ObjectAccess {
    const char* file;
    std::uint32_t line;
    std::uint32_t column;
    const ArrayType* accessed;
};

/// Copies whole objects, in pieces no wider than a GPU's widest access.
template <EventKind kind>
void range(const void* address, std::size_t bytes, const void* returnAddress) {
    constexpr std::size_t widest = 16;
    const auto* at = static_cast<const std::byte*>(address);
    for (std::size_t done = 0; done < bytes; done += widest) {
        onAccess<kind>(at + done, static_cast<unsigned>(std::min(widest, bytes - done)),
                       returnAddress);
    }
}

} // namespace

} // namespace kernelskill::engine::emulator

using kernelskill::engine::emulator::EventKind;
using kernelskill::engine::emulator::hookState;
namespace emulator = kernelskill::engine::emulator;

// NOLINTBEGIN(bugprone-macro-parentheses,bugprone-reserved-identifier,readability-identifier-naming)
#define KS_HOOKS(BYTES)                                                                            \
    void __tsan_read##BYTES(void* address) {                                                       \
        emulator::aligned<EventKind::Load, BYTES>(address, __builtin_return_address(0));           \
    }                                                                                              \
    void __tsan_write##BYTES(void* address) {                                                      \
        emulator::aligned<EventKind::Store, BYTES>(address, __builtin_return_address(0));          \
    }                                                                                              \
    void __tsan_unaligned_read##BYTES(void* address) {                                             \
        emulator::onAccess<EventKind::Load>(address, BYTES, __builtin_return_address(0));          \
    }                                                                                              \
    void __tsan_unaligned_write##BYTES(void* address) {                                            \
        emulator::onAccess<EventKind::Store>(address, BYTES, __builtin_return_address(0));         \
    }                                                                                              \
    void __tsan_volatile_read##BYTES(void* address) {                                              \
        emulator::volatileAccess<EventKind::Load>(address, BYTES, __builtin_return_address(0),     \
                                                  emulator::volatileRead);                         \
    }                                                                                              \
    void __tsan_volatile_write##BYTES(void* address) {                                             \
        emulator::volatileAccess<EventKind::Store>(address, BYTES, __builtin_return_address(0),    \
                                                   emulator::volatileWrite);                       \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##BYTES(void* address) {                                    \
        emulator::volatileAccess<EventKind::Load>(address, BYTES, __builtin_return_address(0),     \
                                                  emulator::volatileRead);                         \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##BYTES(void* address) {                                   \
        emulator::volatileAccess<EventKind::Store>(address, BYTES, __builtin_return_address(0),    \
                                                   emulator::volatileWrite);                       \
    }

#define KS_ATOMIC_OPERATION(BITS, TYPE, NAME)                                                      \
    TYPE __tsan_atomic##BITS##_##NAME(volatile TYPE* address, TYPE value, int order) {             \
        emulator::onAtomic(const_cast<TYPE*>(address), sizeof(TYPE), __builtin_return_address(0),  \
                           emulator::ordered(order, true, true));                                  \
        return __atomic_##NAME(address, value, __ATOMIC_SEQ_CST);                                  \
    }

#define KS_ATOMICS(BITS, TYPE)                                                                     \
    TYPE __tsan_atomic##BITS##_load(const volatile TYPE* address, int order) {                     \
        emulator::volatileAccess<EventKind::Load>(const_cast<const TYPE*>(address), sizeof(TYPE),  \
                                                  __builtin_return_address(0),                     \
                                                  emulator::ordered(order, true, false));          \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    void __tsan_atomic##BITS##_store(volatile TYPE* address, TYPE value, int order) {              \
        emulator::volatileAccess<EventKind::Store>(const_cast<TYPE*>(address), sizeof(TYPE),       \
                                                   __builtin_return_address(0),                    \
                                                   emulator::ordered(order, false, true));         \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    TYPE __tsan_atomic##BITS##_exchange(volatile TYPE* address, TYPE value, int order) {           \
        emulator::onAtomic(const_cast<TYPE*>(address), sizeof(TYPE), __builtin_return_address(0),  \
                           emulator::ordered(order, true, true));                                  \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                              \
    }                                                                                              \
    int __tsan_atomic##BITS##_compare_exchange_strong(volatile TYPE* address, TYPE* expected,      \
                                                      TYPE value, int order, int) {                \
        emulator::onAtomic(const_cast<TYPE*>(address), sizeof(TYPE), __builtin_return_address(0),  \
                           emulator::ordered(order, true, true));                                  \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,      \
                                           __ATOMIC_SEQ_CST);                                      \
    }                                                                                              \
    int __tsan_atomic##BITS##_compare_exchange_weak(volatile TYPE* address, TYPE* expected,        \
                                                    TYPE value, int order, int) {                  \
        emulator::onAtomic(const_cast<TYPE*>(address), sizeof(TYPE), __builtin_return_address(0),  \
                           emulator::ordered(order, true, true));                                  \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,      \
                                           __ATOMIC_SEQ_CST);                                      \
    }                                                                                              \
    TYPE __tsan_atomic##BITS##_compare_exchange_val(volatile TYPE* address, TYPE expected,         \
                                                    TYPE value, int order, int) {                  \
        emulator::onAtomic(const_cast<TYPE*>(address), sizeof(TYPE), __builtin_return_address(0),  \
                           emulator::ordered(order, true, true));                                  \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST,            \
                                    __ATOMIC_SEQ_CST);                                             \
        return expected;                                                                           \
    }                                                                                              \
    KS_ATOMIC_OPERATION(BITS, TYPE, fetch_add)                                                     \
    KS_ATOMIC_OPERATION(BITS, TYPE, fetch_sub)                                                     \
    KS_ATOMIC_OPERATION(BITS, TYPE, fetch_and)                                                     \
    KS_ATOMIC_OPERATION(BITS, TYPE, fetch_or)                                                      \
    KS_ATOMIC_OPERATION(BITS, TYPE, fetch_xor)                                                     \
    KS_ATOMIC_OPERATION(BITS, TYPE, fetch_nand)

extern "C" {

KS_HOOKS(1)
KS_HOOKS(2)
KS_HOOKS(4)
KS_HOOKS(8)
KS_HOOKS(16)

KS_ATOMICS(8, std::uint8_t)
KS_ATOMICS(16, std::uint16_t)
KS_ATOMICS(32, std::uint32_t)
KS_ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int /*order*/) {
    hookState.launch->fence(emulator::SyncScope::Device);
}
void __tsan_atomic_signal_fence(int /*order*/) {}

void __tsan_read_range(void* address, unsigned long bytes) {
    emulator::range<EventKind::Load>(address, bytes, __builtin_return_address(0));
}
void __tsan_write_range(void* address, unsigned long bytes) {
    emulator::range<EventKind::Store>(address, bytes, __builtin_return_address(0));
}

void __tsan_vptr_update(void* address, void* /*value*/) {
    emulator::onAccess<EventKind::Store>(address, sizeof(void*), __builtin_return_address(0));
}
void __tsan_vptr_read(void* address) {
    emulator::onAccess<EventKind::Load>(address, sizeof(void*), __builtin_return_address(0));
}

void __tsan_init(void) {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit(void) {}

void __sanitizer_cov_trace_pc(void) {
    emulator::onBlock<EventKind::BasicBlock>(__builtin_return_address(0));
}

// annotateAssembly gives these names to the functions of -fsanitize=bounds and object-size.
void ks_beyond_local(const void* data, unsigned long index) {
    const auto& access = *static_cast<const emulator::ArrayAccess*>(data);
    if (hookState.launch != nullptr)
        hookState.checker->beyondLocal(access.array->name, static_cast<std::int64_t>(index),
                                       emulator::siteOf(__builtin_return_address(0)));
}
void ks_beyond_other(const void* /*data*/, unsigned long /*index*/) {}
// Objects in shared and global memory have checks of their own.
void ks_beyond_object(const void* data, const void* address) {
    const auto& access = *static_cast<const emulator::ObjectAccess*>(data);
    if (hookState.launch != nullptr &&
        hookState.stacks.contains(reinterpret_cast<std::uint64_t>(address)))
        hookState.checker->beyondOwnObject(access.accessed->name,
                                           emulator::siteOf(__builtin_return_address(0)));
}

// annotateAssembly replaces the hook by this one if the branch at the block's end is the prelude's.
void ks_foreign_block(void) {
    emulator::onBlock<EventKind::ForeignBlock>(__builtin_return_address(0));
}

} // extern "C"
// NOLINTEND(bugprone-macro-parentheses,bugprone-reserved-identifier,readability-identifier-naming)
