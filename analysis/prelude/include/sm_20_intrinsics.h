#pragma once
#define __SM_20_INTRINSICS_H__
#include "prelude.h"
