/// The C library's <stdio.h>, with the device's printf when parsing.
#include_next <stdio.h>

#if defined(__CUDA__) && !defined(KERNELSKILL_EMULATION) && !defined(KERNELSKILL_DEVICE_PRINTF)
#define KERNELSKILL_DEVICE_PRINTF
extern "C" __attribute__((device)) int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
extern "C" __attribute__((device)) int vprintf(const char* format, __builtin_va_list arguments);
#endif
