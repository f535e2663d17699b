/// Tells from a header's name whether it belongs to CUDA.
#pragma once

#include <string_view>

namespace kernelskill::analysis {

/// True for headers of the CUDA toolkit itself: `cuda_runtime.h`, `cublas_v2.h`, `thrust/sort.h`.
[[nodiscard]] bool isCudaToolkitHeader(std::string_view name);

/// True for these, and for headers of other authors that often accompany CUDA code: `cudnn.h`,
/// `nccl.h`, the samples' `helper_cuda.h`, `cutlass/...`.
[[nodiscard]] bool isCudaLibraryHeader(std::string_view name);

} // namespace kernelskill::analysis
