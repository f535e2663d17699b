#include "analysis/parse/cuda_headers.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

bool isCudaToolkitHeader(std::string_view name) {
    constexpr auto folders = std::to_array<std::string_view>(
        {"thrust/", "cub/", "cuda/", "nv/", "nvtx3/", "cooperative_groups/", "crt/"});
    constexpr auto prefixes = std::to_array<std::string_view>({"cublas",
                                                               "cusparse",
                                                               "cufft",
                                                               "curand",
                                                               "cusolver",
                                                               "nppi",
                                                               "npps",
                                                               "npp.h",
                                                               "nppcore",
                                                               "nvml.h",
                                                               "nvjpeg",
                                                               "nvrtc",
                                                               "nvJitLink",
                                                               "nvToolsExt",
                                                               "cuda.h",
                                                               "cuda_",
                                                               "cudaGL",
                                                               "cudaEGL",
                                                               "cudaProfiler",
                                                               "cupti",
                                                               "nvblas",
                                                               "nvgraph",
                                                               "cooperative_groups",
                                                               "texture_",
                                                               "surface_",
                                                               "vector_functions",
                                                               "vector_types",
                                                               "device_launch_parameters",
                                                               "device_functions",
                                                               "device_types",
                                                               "device_atomic_functions",
                                                               "driver_functions",
                                                               "driver_types",
                                                               "channel_descriptor",
                                                               "builtin_types",
                                                               "host_config",
                                                               "host_defines",
                                                               "math_constants",
                                                               "math_functions",
                                                               "common_functions",
                                                               "cuComplex",
                                                               "library_types",
                                                               "simd_functions",
                                                               "device_double_functions",
                                                               "sm_20_",
                                                               "sm_30_",
                                                               "sm_32_",
                                                               "sm_35_",
                                                               "sm_60_",
                                                               "sm_61_"});
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    if (std::ranges::any_of(folders, begins) || name == "mma.h")
        return true;
    return name.find('/') == std::string_view::npos && std::ranges::any_of(prefixes, begins);
}

bool isCudaLibraryHeader(std::string_view name) {
    constexpr auto prefixes = std::to_array<std::string_view>({"cudnn",         "nccl",
                                                               "nvshmem",       "cutensor",
                                                               "cutlass/",      "cute/",
                                                               "cuco/",         "rmm/",
                                                               "raft/",         "moderngpu/",
                                                               "nvcuvid",       "cuviddec",
                                                               "helper_cuda",   "helper_functions",
                                                               "helper_string", "helper_timer",
                                                               "helper_math",   "helper_image",
                                                               "helper_gl",     "cutil",
                                                               "drvapi_error"});
    return isCudaToolkitHeader(name) || std::ranges::any_of(prefixes, [&](std::string_view prefix) {
               return name.starts_with(prefix);
           });
}

} // namespace kernelskill::analysis
