/// The declarations that nvcc puts before the first line of every .cu file. Forced in front of the user's file, for parsing with
/// clang when there is no CUDA toolkit and, with KERNELSKILL_EMULATION defined, for compiling device code for the
/// CPU.
#pragma once

#include "kernelskill/language.h"

#include "kernelskill/standard_library.h"

#include "kernelskill/atomics.h"
#include "kernelskill/barriers.h"
#include "kernelskill/builtin_variables.h"
#include "kernelskill/cached_access.h"
#include "kernelskill/integer_intrinsics.h"
#include "kernelskill/math_intrinsics.h"
#include "kernelskill/min_max.h"
#include "kernelskill/simd_intrinsics.h"
#include "kernelskill/textures.h"
#include "kernelskill/warp.h"
#include "kernelskill/tensor_cores.h"

#include "cuda_runtime.h"
