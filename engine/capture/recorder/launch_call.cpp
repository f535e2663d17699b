// This macro declares the arguments of the driver's functions, including old versions.
#define __CUDA_API_VERSION_INTERNAL
#include "engine/capture/recorder/launch_call.h"

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

namespace kernelskill::engine::capture {
namespace {

/// For functions of the driver that end in _ptsz, the null handle means the thread's own stream.
CUstream streamOf(CUstream stream, bool isPerThread) {
    if (stream != nullptr)
        return stream;
    return isPerThread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

template <typename Parameters>
LaunchCall plainCall(const Parameters& given, bool isPerThread) {
    LaunchCall call;
    call.function = given.f;
    call.grid = {given.gridDimX, given.gridDimY, given.gridDimZ};
    call.block = {given.blockDimX, given.blockDimY, given.blockDimZ};
    call.sharedBytes = given.sharedMemBytes;
    call.stream = streamOf(given.hStream, isPerThread);
    call.parameters = given.kernelParams;
    if constexpr (requires { given.extra; })
        call.extra = given.extra;
    return call;
}

template <typename Parameters>
LaunchCall extendedCall(const Parameters& given, bool isPerThread) {
    LaunchCall call;
    call.function = given.f;
    const CUlaunchConfig& config = *given.config;
    call.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
    call.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
    call.sharedBytes = config.sharedMemBytes;
    call.stream = streamOf(config.hStream, isPerThread);
    call.parameters = given.kernelParams;
    call.extra = given.extra;
    return call;
}

} // namespace

std::optional<LaunchCall> launchCallOf(std::uint32_t function, const void* given) {
    switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
        return plainCall(*static_cast<const cuLaunchKernel_params*>(given), false);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        return plainCall(*static_cast<const cuLaunchKernel_ptsz_params*>(given), true);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
        return extendedCall(*static_cast<const cuLaunchKernelEx_params*>(given), false);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        return extendedCall(*static_cast<const cuLaunchKernelEx_ptsz_params*>(given), true);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
        return plainCall(*static_cast<const cuLaunchCooperativeKernel_params*>(given), false);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        return plainCall(*static_cast<const cuLaunchCooperativeKernel_ptsz_params*>(given), true);
    default:
        return std::nullopt;
    }
}

} // namespace kernelskill::engine::capture
