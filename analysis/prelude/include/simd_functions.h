#pragma once
#include "kernelskill/simd_intrinsics.h"
