#pragma once
#define __CUDA_DEVICE_RUNTIME_API_H__
#include "cuda_runtime_api.h"
