#pragma once
#define __SM_30_INTRINSICS_H__
#include "kernelskill/warp.h"
