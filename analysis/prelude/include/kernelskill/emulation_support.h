/// The tables by which a compiled image describes itself to the emulator worker, and the helpers that rewritten kernels use.
/// Compiled into the user's kernel after the prelude; the worker includes it for the tables alone.
#pragma once

#include "emulation_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The kind of an innermost element, so that memory the host would have set can be filled sensibly.
enum KsElement {
    KsElementOther = 0,
    KsElementFloating = 1,
    KsElementInteger = 2,
    KsElementHalf = 3,
    KsElementBFloat16 = 4,
    KsElementPointer = 5,
};

/// A number in a class, arrays and classes inside of it taken apart.
struct KsField {
    unsigned offset;
    unsigned bytes;
    unsigned element; ///< KsElement
};

struct KsParameter {
    const char* name;
    unsigned size;
    unsigned alignment;
    unsigned pointeeBytes;        ///< Size of the class that a pointer points to, if its fields are known; else 0.
    const struct KsField* fields; ///< The fields of that class.
    unsigned fieldCount;
};

/// A `__device__`, `__constant__` or `__managed__` variable that the kernel may use.
struct KsGlobal {
    const char* name;
    void* address;
    size_t bytes;
    unsigned elementBytes;
    unsigned element;       ///< KsElement
    unsigned isConstant;    ///< __constant__
    unsigned isInitialised; ///< By the program's text, so not for the host to set.
    const struct KsField* fields; ///< The fields of an element, if it is of a class whose fields are known.
    unsigned fieldCount;
};

/// Exported as `ks_image`.
struct KsImageTable {
    unsigned version; ///< KS_IMAGE_VERSION
    unsigned parameterCount;
    const struct KsParameter* parameters;
    unsigned globalCount;
    const struct KsGlobal* globals;
};

#define KS_IMAGE_VERSION 2u

#ifdef __cplusplus
}
#endif

#if defined(__cplusplus) && defined(KERNELSKILL_EMULATION)

#include <cstddef>
#include <type_traits>
#include <utility>

struct __half;
struct __nv_bfloat16;

#define KS_EXPORTED __attribute__((visibility("default"), used))
/// The entry reads the argument array; that is no access of the kernel's.
#define KS_UNSEEN_ENTRY KS_EXPORTED __attribute__((no_sanitize_thread))

/// Marks the place that is reached after an outcome of a watched condition. The mark becomes code that notes it.
#if defined(__aarch64__)
#define KS_OUTCOME(number) asm volatile("# ks_outcome " #number ::: "x16", "x17")
#else
#define KS_OUTCOME(number) asm volatile("# ks_outcome " #number)
#endif
/// The same in a constexpr function. What the compiler evaluates is not noted.
#define KS_CONSTEXPR_OUTCOME(number)                \
    do {                                            \
        if (!__builtin_is_constant_evaluated())     \
            ks::noteOutcome<number>();              \
    } while (false)

/// The names of the code behind the user's names begin with "ks", because the user's macros reach it too.
namespace ks {

template <int ksNumber>
__attribute__((always_inline)) inline void noteOutcome() {
#if defined(__aarch64__)
    asm volatile("# ks_outcome %c0" ::"i"(ksNumber) : "x16", "x17");
#else
    asm volatile("# ks_outcome %c0" ::"i"(ksNumber));
#endif
}

/// Binds `extern __shared__ T name[];` to the block's dynamic shared memory: `T (&name)[N] = ks::DynamicShared{}`.
struct DynamicShared {
    template <typename T>
    __attribute__((always_inline)) operator T&() const {
        return *static_cast<T*>(ks_dynamic_shared());
    }
};

/// An array of a thread's own with room on both sides, which pointers may not lead into:
/// `Owned<float [4]> own = {{}, {1, 2}}; float (&name)[4] = own.ksArray`.
template <typename Array>
struct Owned {
    alignas(16) unsigned char ksBefore[64];
    Array ksArray;
    unsigned char ksAfter[64];
    bool ksIsKnown = ks_own_room(ksBefore, ksAfter, 64);
    ~Owned() { ks_own_room_ends(ksBefore, ksAfter, 64); }
};

/// Numbers of a class, in its order; those beyond the capacity are left out.
struct FieldList {
    KsField ksFields[64] = {};
    unsigned ksCount = 0;

    constexpr void ksAdd(unsigned offset, unsigned bytes, unsigned element) {
        if (ksCount < 64)
            ksFields[ksCount++] = {offset, bytes, element};
    }
};

/// Specialised for the classes of the user's files: `ksKnown` is true and ksVisit(visitor) calls visitor.ksField<F>(offset)
/// for each data member.
template <typename T>
struct Fields {
    static constexpr bool ksKnown = false;
};

/// The kind of a 16-bit type, which KERNELSKILL_WIDE_HALVES stores as a double.
template <typename T>
constexpr unsigned shortKind(unsigned narrow) {
    return sizeof(T) == sizeof(double) ? unsigned(KsElementFloating) : narrow;
}

template <typename T>
constexpr unsigned elementKind() {
    using Element = typename std::remove_cv<typename std::remove_all_extents<T>::type>::type;
    return std::is_floating_point<Element>::value                                ? KsElementFloating
           : std::is_integral<Element>::value || std::is_enum<Element>::value    ? KsElementInteger
           : std::is_same<Element, ::__half>::value                              ? shortKind<Element>(KsElementHalf)
           : std::is_same<Element, ::__nv_bfloat16>::value                       ? shortKind<Element>(KsElementBFloat16)
           : std::is_pointer<Element>::value                                     ? KsElementPointer
                                                                                 : KsElementOther;
}

template <typename T, typename = void>
struct VectorElement {
    using Type = void;
};
/// float4, half2 and the user's own of that shape.
template <typename T>
struct VectorElement<T, std::void_t<decltype(std::declval<T&>().x)>> {
    using Type = typename std::remove_cv<typename std::remove_reference<decltype(std::declval<T&>().x)>::type>::type;
};

template <typename T>
constexpr void ksAddFields(FieldList& list, unsigned offset);

struct FieldVisitor {
    FieldList& ksList;
    unsigned ksOffset;

    template <typename F>
    constexpr void ksField(std::size_t offset) const {
        ksAddFields<typename std::remove_cv<F>::type>(ksList, ksOffset + static_cast<unsigned>(offset));
    }
};

template <typename T>
constexpr void ksAddFields(FieldList& list, unsigned offset) {
    if constexpr (std::is_array<T>::value) {
        using Element = typename std::remove_cv<typename std::remove_extent<T>::type>::type;
        for (unsigned at = 0; at < sizeof(T) && list.ksCount < 64; at += sizeof(Element))
            ksAddFields<Element>(list, offset + at);
    } else if constexpr (elementKind<T>() != KsElementOther) {
        list.ksAdd(offset, sizeof(T), elementKind<T>());
    } else if constexpr (Fields<T>::ksKnown) {
        Fields<T>::ksVisit(FieldVisitor{list, offset});
    } else if constexpr (!std::is_void<typename VectorElement<T>::Type>::value) {
        using Element = typename VectorElement<T>::Type;
        for (unsigned at = 0; at + sizeof(Element) <= sizeof(T); at += sizeof(Element))
            ksAddFields<Element>(list, offset + at);
    }
}

template <typename T>
constexpr FieldList ksListFields() {
    FieldList list;
    if constexpr (Fields<T>::ksKnown)
        ksAddFields<T>(list, 0);
    return list;
}

template <typename T>
struct FieldTable {
    static constexpr FieldList ksList = ksListFields<T>();
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
        return {{ksDescribeOne<Value<P>>(names[I])...}};
    }

    template <typename T>
    static constexpr KsParameter ksDescribeOne(const char* name) {
        using Pointee = typename std::remove_cv<typename std::remove_pointer<T>::type>::type;
        if constexpr (std::is_pointer<T>::value && Fields<Pointee>::ksKnown)
            return {name, sizeof(T), alignof(T), sizeof(Pointee), FieldTable<Pointee>::ksList.ksFields,
                    FieldTable<Pointee>::ksList.ksCount};
        else
            return {name, sizeof(T), alignof(T), 0, nullptr, 0};
    }

    template <std::size_t... I>
    __attribute__((always_inline, no_sanitize_thread)) static void ksRun(void (*kernel)(P...), void** arguments,
                                                                       std::index_sequence<I...>) {
        (void)arguments;
        kernel(*static_cast<Value<P>*>(arguments[I])...);
    }
};

template <typename T>
KsGlobal ksDescribeGlobal(const char* name, const volatile T& variable, unsigned isConstant, unsigned isInitialised) {
    return {name,
            const_cast<void*>(reinterpret_cast<const volatile void*>(&variable)),
            sizeof(T),
            static_cast<unsigned>(sizeof(typename std::remove_all_extents<T>::type)),
            elementKind<T>(),
            isConstant,
            isInitialised,
            FieldTable<typename std::remove_cv<typename std::remove_all_extents<T>::type>::type>::ksList.ksFields,
            FieldTable<typename std::remove_cv<typename std::remove_all_extents<T>::type>::type>::ksList.ksCount};
}

} // namespace ks
#endif
