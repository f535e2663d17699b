#pragma once
#define __SM_35_INTRINSICS_H__
#include "kernelskill/cached_access.h"
