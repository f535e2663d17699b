#include "analysis/command/cuda_headers.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

template <std::size_t count>
bool beginsWithOneOf(std::string_view name, const std::array<std::string_view, count>& prefixes) {
    return std::ranges::any_of(prefixes,
                               [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view stemOf(std::string_view name) {
    return name.substr(0, name.rfind('.'));
}

} // namespace

bool isCudaToolkitHeader(std::string_view name) {
    constexpr auto folders = std::to_array<std::string_view>(
        {"thrust/", "cub/", "cuda/", "nv/", "nvtx3/", "cooperative_groups/", "crt/", "nvvm/"});
    constexpr auto families = std::to_array<std::string_view>(
        {"cupti_", "curand_", "nppi_", "npps_", "nvJitLink", "nvPTXCompiler", "nvToolsExt",
         "sm_20_", "sm_30_", "sm_32_", "sm_35_", "sm_60_", "sm_61_"});
    // Whole names, because a user's header may be called cuda_utils.h.
    constexpr auto stems = std::to_array<std::string_view>({"builtin_types",
                                                            "channel_descriptor",
                                                            "common_functions",
                                                            "cooperative_groups",
                                                            "cuComplex",
                                                            "cublas",
                                                            "cublasLt",
                                                            "cublasXt",
                                                            "cublas_api",
                                                            "cublas_v2",
                                                            "cuda",
                                                            "cudaEGL",
                                                            "cudaEGLTypedefs",
                                                            "cudaGL",
                                                            "cudaGLTypedefs",
                                                            "cudaProfiler",
                                                            "cudaProfilerTypedefs",
                                                            "cudaTypedefs",
                                                            "cudaVDPAU",
                                                            "cuda_awbarrier",
                                                            "cuda_awbarrier_helpers",
                                                            "cuda_awbarrier_primitives",
                                                            "cuda_bf16",
                                                            "cuda_device_runtime_api",
                                                            "cuda_egl_interop",
                                                            "cuda_fp16",
                                                            "cuda_fp4",
                                                            "cuda_fp6",
                                                            "cuda_fp8",
                                                            "cuda_gl_interop",
                                                            "cuda_occupancy",
                                                            "cuda_pipeline",
                                                            "cuda_pipeline_helpers",
                                                            "cuda_pipeline_primitives",
                                                            "cuda_profiler_api",
                                                            "cuda_runtime",
                                                            "cuda_runtime_api",
                                                            "cuda_stdint",
                                                            "cuda_surface_types",
                                                            "cuda_texture_types",
                                                            "cuda_vdpau_interop",
                                                            "cudalibxt",
                                                            "cufft",
                                                            "cufftXt",
                                                            "cufftw",
                                                            "cupti",
                                                            "curand",
                                                            "cusolverDn",
                                                            "cusolverMg",
                                                            "cusolverRf",
                                                            "cusolverSp",
                                                            "cusolverSp_LOWLEVEL_PREVIEW",
                                                            "cusolver_common",
                                                            "cusparse",
                                                            "cusparse_v2",
                                                            "device_atomic_functions",
                                                            "device_double_functions",
                                                            "device_functions",
                                                            "device_launch_parameters",
                                                            "device_types",
                                                            "driver_functions",
                                                            "driver_types",
                                                            "host_config",
                                                            "host_defines",
                                                            "library_types",
                                                            "math_constants",
                                                            "math_functions",
                                                            "mma",
                                                            "npp",
                                                            "nppcore",
                                                            "nppdefs",
                                                            "nppi",
                                                            "npps",
                                                            "nvblas",
                                                            "nvfatbin",
                                                            "nvgraph",
                                                            "nvjpeg",
                                                            "nvml",
                                                            "nvrtc",
                                                            "simd_functions",
                                                            "surface_functions",
                                                            "surface_indirect_functions",
                                                            "surface_types",
                                                            "texture_fetch_functions",
                                                            "texture_indirect_functions",
                                                            "texture_types",
                                                            "vector_functions",
                                                            "vector_types"});
    static_assert(std::ranges::is_sorted(stems));
    if (name.find('/') != std::string_view::npos)
        return beginsWithOneOf(name, folders);
    return std::ranges::binary_search(stems, stemOf(name)) || beginsWithOneOf(name, families);
}

bool isCudaLibraryHeader(std::string_view name) {
    constexpr auto prefixes = std::to_array<std::string_view>({"cublas",
                                                               "cuda_",
                                                               "cudnn",
                                                               "cufft",
                                                               "cupti",
                                                               "curand",
                                                               "cusolver",
                                                               "cusparse",
                                                               "cutensor",
                                                               "cutlass/",
                                                               "cute/",
                                                               "cutil",
                                                               "cuco/",
                                                               "cuviddec",
                                                               "drvapi_error",
                                                               "helper_cuda",
                                                               "helper_functions",
                                                               "helper_gl",
                                                               "helper_image",
                                                               "helper_math",
                                                               "helper_string",
                                                               "helper_timer",
                                                               "moderngpu/",
                                                               "nccl",
                                                               "npp",
                                                               "nvcuvid",
                                                               "nvjpeg",
                                                               "nvshmem",
                                                               "raft/",
                                                               "rmm/"});
    return isCudaToolkitHeader(name) || beginsWithOneOf(name, prefixes);
}

} // namespace kernelskill::analysis
