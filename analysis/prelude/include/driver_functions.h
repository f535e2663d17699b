#pragma once
#define __DRIVER_FUNCTIONS_H__
#include "cuda_runtime.h"
