/// NVTX with CUDA names.
#pragma once
#include "nvtx3/nvToolsExt.h"
