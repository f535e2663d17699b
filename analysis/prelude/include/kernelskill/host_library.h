/// The part that the headers of the host's libraries (cuBLAS, cuFFT, ...) share: their functions are declared, never run.
#pragma once

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#ifdef KERNELSKILL_EMULATION
#define KS_LIBRARY extern "C" __attribute__((weak))
#else
#define KS_LIBRARY extern "C" __host__
#endif
