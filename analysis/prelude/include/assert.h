/// assert() that ends the emulated launch; when parsing, the C library's on both sides. Included anew each time, as
/// NDEBUG may change.
#ifdef KERNELSKILL_EMULATION

#include "kernelskill/emulation_abi.h"

#undef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition)                                                                          \
    (static_cast<bool>(condition) ? static_cast<void>(0)                                           \
                                  : ks_assert_failed(#condition, __FILE__, __LINE__))
#endif

#else
#include_next <assert.h>
#ifndef KERNELSKILL_DEVICE_ASSERT
#define KERNELSKILL_DEVICE_ASSERT
extern "C" __attribute__((device)) void __assert_fail(const char* condition, const char* file, unsigned int line,
                                                      const char* function);
#endif
#endif
