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

bool isKept(CUlaunchAttributeID attribute) {
    return attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
           attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
           attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
}

LaunchCall cooperative(LaunchCall call) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    call.attributes.push_back(attribute);
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
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        if (isKept(config.attrs[i].id))
            call.attributes.push_back(config.attrs[i]);
    }
    return call;
}

/// CUDA's limit is 32764 bytes of parameters, so no kernel has more.
constexpr std::size_t maxParameterCount = 32764;

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
        return cooperative(
            plainCall(*static_cast<const cuLaunchCooperativeKernel_params*>(given), false));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        return cooperative(
            plainCall(*static_cast<const cuLaunchCooperativeKernel_ptsz_params*>(given), true));
    default:
        return std::nullopt;
    }
}

bool isFunction(CUfunction handle, const DriverFunctions& driver) {
    CUmodule module = nullptr;
    return driver.cuFuncGetModule(&module, handle) == CUDA_SUCCESS;
}

Result<std::vector<CapturedParameter>> parametersOf(const LaunchCall& call,
                                                    const DriverFunctions& driver) {
    const bool hasModule = isFunction(call.function, driver);
    const auto layout = [&](std::size_t index, std::size_t& offset, std::size_t& bytes) {
        const auto status =
            hasModule ? driver.cuFuncGetParamInfo(call.function, index, &offset, &bytes)
                      : driver.cuKernelGetParamInfo(reinterpret_cast<CUkernel>(call.function),
                                                    index, &offset, &bytes);
        return status == CUDA_SUCCESS;
    };
    const std::byte* packed = nullptr;
    for (void** at = call.extra; at != nullptr && *at != CU_LAUNCH_PARAM_END; at += 2) {
        if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER)
            packed = static_cast<const std::byte*>(at[1]);
    }
    std::vector<CapturedParameter> parameters;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    for (std::size_t index = 0; index < maxParameterCount && layout(index, offset, bytes);
         ++index) {
        const auto* value = call.parameters != nullptr
                                ? static_cast<const std::byte*>(call.parameters[index])
                            : packed != nullptr ? packed + offset
                                                : nullptr;
        if (value == nullptr)
            return std::unexpected(Error{
                ErrorKind::Unsupported, "its arguments were passed in an unknown way", {}, {}});
        parameters.push_back({offset, {value, value + bytes}, {}});
    }
    return parameters;
}

} // namespace kernelskill::engine::capture
