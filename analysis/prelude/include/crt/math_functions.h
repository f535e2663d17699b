#pragma once
#define __MATH_FUNCTIONS_H__
#include "kernelskill/math_intrinsics.h"
