#pragma once
#define __SM_61_INTRINSICS_H__
#include "kernelskill/integer_intrinsics.h"
