/// What a compiled image tells the emulator worker about itself, and the helpers that rewritten kernels use.
/// Compiled into the user's kernel after the prelude; the worker includes it for the tables alone.
#pragma once

#include "emulation_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct KsParameter {
    const char* name;
    unsigned size;
    unsigned alignment;
};

/// What an array's innermost element is, so that a variable the host would have set can be filled sensibly.
enum KsElement { KsElementOther = 0, KsElementFloating = 1, KsElementInteger = 2 };

/// A `__device__`, `__constant__` or `__managed__` variable that the kernel may use.
struct KsGlobal {
    const char* name;
    void* address;
    size_t bytes;
    unsigned elementBytes;
    unsigned element;       ///< KsElement
    unsigned isConstant;    ///< __constant__
    unsigned isInitialised; ///< By the program's text, so not for the host to set.
};

/// Exported as `ks_image`.
struct KsImageTable {
    unsigned version; ///< KS_IMAGE_VERSION
    unsigned parameterCount;
    const struct KsParameter* parameters;
    unsigned globalCount;
    const struct KsGlobal* globals;
};

#define KS_IMAGE_VERSION 1u

#ifdef __cplusplus
}
#endif

#if defined(__cplusplus) && defined(KERNELSKILL_EMULATION)

#include <type_traits>
#include <utility>

#define KS_EXPORTED __attribute__((visibility("default"), used))
/// The entry reads the argument array; that is no access of the kernel's.
#define KS_UNSEEN_ENTRY KS_EXPORTED __attribute__((no_sanitize_thread))

/// What the code behind the user's names begins with "ks", because the user's macros reach it too.
namespace ks {

/// Binds `extern __shared__ T name[];` to the block's dynamic shared memory: `T (&name)[N] = ks::DynamicShared{}`.
struct DynamicShared {
    template <typename T>
    __attribute__((always_inline)) operator T&() const {
        return *static_cast<T*>(ks_dynamic_shared());
    }
};

template <typename... P>
using KernelPointer = void (*)(P...);

template <typename... P>
constexpr KernelPointer<P...> ksPlainPointer(void (*function)(P...)) {
    return function;
}

template <typename F>
struct KsKernel;

template <typename... P>
struct KsKernel<void (*)(P...)> {
    static constexpr unsigned ksCount = sizeof...(P);

    struct Parameters {
        KsParameter ksEntries[sizeof...(P) + 1];
    };

    template <typename T>
    using Value = typename std::remove_cv<typename std::remove_reference<T>::type>::type;

    static constexpr Parameters ksDescribe(const char* const* names) {
        return ksDescribe(names, std::index_sequence_for<P...>{});
    }

    __attribute__((always_inline, no_sanitize_thread)) static void ksRun(void (*kernel)(P...), void** arguments) {
        ksRun(kernel, arguments, std::index_sequence_for<P...>{});
    }

private:
    template <std::size_t... I>
    static constexpr Parameters ksDescribe(const char* const* names, std::index_sequence<I...>) {
        return {{{names[I], static_cast<unsigned>(sizeof(Value<P>)), static_cast<unsigned>(alignof(Value<P>))}...}};
    }

    template <std::size_t... I>
    __attribute__((always_inline, no_sanitize_thread)) static void ksRun(void (*kernel)(P...), void** arguments,
                                                                       std::index_sequence<I...>) {
        (void)arguments;
        kernel(*static_cast<Value<P>*>(arguments[I])...);
    }
};

template <typename T>
constexpr unsigned elementKind() {
    using Element = typename std::remove_cv<typename std::remove_all_extents<T>::type>::type;
    return std::is_floating_point<Element>::value ? KsElementFloating
           : std::is_integral<Element>::value     ? KsElementInteger
                                                  : KsElementOther;
}

template <typename T>
KsGlobal ksDescribeGlobal(const char* name, const volatile T& variable, unsigned isConstant, unsigned isInitialised) {
    return {name,
            const_cast<void*>(reinterpret_cast<const volatile void*>(&variable)),
            sizeof(T),
            static_cast<unsigned>(sizeof(typename std::remove_all_extents<T>::type)),
            elementKind<T>(),
            isConstant,
            isInitialised};
}

} // namespace ks
#endif
