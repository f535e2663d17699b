#pragma once
#define __SM_32_INTRINSICS_H__
#include "kernelskill/cached_access.h"
