/// The C library's <stdio.h>, callable from device code when parsing.
#if defined(__clang__) && !defined(KERNELSKILL_EMULATION)
#pragma clang force_cuda_host_device begin
#include_next <stdio.h>
#pragma clang force_cuda_host_device end
#else
#include_next <stdio.h>
#endif
