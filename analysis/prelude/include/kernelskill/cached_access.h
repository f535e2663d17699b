/// Loads and stores with a cache hint: plain accesses of the pointee's width.
#pragma once

#include "kernelskill/standard_library.h"
#include "vector_types.h"

// One template each: the types that have an overload are too many to list, and users pass their own
// 16-byte classes.
template <class T> KS_DEVICE T __ldg(const T* address) KS_BODY({ return *address; })
template <class T> KS_DEVICE T __ldcg(const T* address) KS_BODY({ return *address; })
template <class T> KS_DEVICE T __ldca(const T* address) KS_BODY({ return *address; })
template <class T> KS_DEVICE T __ldcs(const T* address) KS_BODY({ return *address; })
template <class T> KS_DEVICE T __ldlu(const T* address) KS_BODY({ return *address; })
template <class T> KS_DEVICE T __ldcv(const T* address) KS_BODY({ return *address; })

/// Keeps the value's type out of deduction: __stcs(&floats[i], 0) stores a float.
template <class T> struct KsSame {
    using Type = T;
};
#define KS_STORED(T) const typename KsSame<T>::Type&
template <class T> KS_DEVICE void __stwb(T* address, KS_STORED(T) value) KS_BODY({ *address = value; })
template <class T> KS_DEVICE void __stcg(T* address, KS_STORED(T) value) KS_BODY({ *address = value; })
template <class T> KS_DEVICE void __stcs(T* address, KS_STORED(T) value) KS_BODY({ *address = value; })
template <class T> KS_DEVICE void __stwt(T* address, KS_STORED(T) value) KS_BODY({ *address = value; })
#undef KS_STORED

// Which memory a generic address belongs to is the worker's knowledge; what it may be converted to is not.
KS_DEVICE size_t __cvta_generic_to_shared(const void* pointer)
    KS_BODY({ return reinterpret_cast<size_t>(pointer); })
KS_DEVICE size_t __cvta_generic_to_global(const void* pointer)
    KS_BODY({ return reinterpret_cast<size_t>(pointer); })
KS_DEVICE size_t __cvta_generic_to_local(const void* pointer)
    KS_BODY({ return reinterpret_cast<size_t>(pointer); })
KS_DEVICE size_t __cvta_generic_to_constant(const void* pointer)
    KS_BODY({ return reinterpret_cast<size_t>(pointer); })
KS_DEVICE void* __cvta_shared_to_generic(size_t address)
    KS_BODY({ return reinterpret_cast<void*>(address); })
KS_DEVICE void* __cvta_global_to_generic(size_t address)
    KS_BODY({ return reinterpret_cast<void*>(address); })
KS_DEVICE void* __cvta_local_to_generic(size_t address)
    KS_BODY({ return reinterpret_cast<void*>(address); })
KS_DEVICE void* __cvta_constant_to_generic(size_t address)
    KS_BODY({ return reinterpret_cast<void*>(address); })
KS_DEVICE unsigned int __isGlobal(const void* pointer)
    KS_BODY({ static_cast<void>(pointer); ks_refuse("address space predicates"); })
KS_DEVICE unsigned int __isShared(const void* pointer)
    KS_BODY({ static_cast<void>(pointer); ks_refuse("address space predicates"); })
KS_DEVICE unsigned int __isConstant(const void* pointer)
    KS_BODY({ static_cast<void>(pointer); ks_refuse("address space predicates"); })
KS_DEVICE unsigned int __isLocal(const void* pointer)
    KS_BODY({ static_cast<void>(pointer); ks_refuse("address space predicates"); })
