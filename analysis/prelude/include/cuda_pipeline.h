#pragma once
#define _CUDA_PIPELINE_H_
#include "cuda/pipeline"
#include "cuda_pipeline_primitives.h"

// Samples name the namespace, whether or not they use what it held.
namespace nvcuda {
namespace experimental {}
} // namespace nvcuda
