#pragma once
#include "kernelskill/math_intrinsics.h"
