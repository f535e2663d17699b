/// CUDA's driver API, loaded at run time. Members have the names of the functions, so that calls
/// look as in NVIDIA's documentation.
#pragma once

#include "analysis/source/error.h"

#include <cuda.h>
#include <string>

namespace kernelskill::engine::gpu {

// cuda.h renames functions to their newest version by macros. They are expanded both here and in
// calls.
#define KERNELSKILL_DRIVER_FUNCTIONS(X)                                                            \
    X(cuInit)                                                                                      \
    X(cuDriverGetVersion)                                                                          \
    X(cuGetErrorName)                                                                              \
    X(cuGetErrorString)                                                                            \
    X(cuDeviceGetCount)                                                                            \
    X(cuDeviceGet)                                                                                 \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetUuid)                                                                             \
    X(cuDeviceGetPCIBusId)                                                                         \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceTotalMem)                                                                            \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)                                                                            \
    X(cuMemGetInfo)                                                                                \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemcpyHtoD)                                                                                \
    X(cuMemcpyDtoH)                                                                                \
    X(cuMemcpyDtoDAsync)                                                                           \
    X(cuMemsetD8Async)                                                                             \
    X(cuMemsetD32Async)                                                                            \
    X(cuMemGetAllocationGranularity)                                                               \
    X(cuMemAddressReserve)                                                                         \
    X(cuMemAddressFree)                                                                            \
    X(cuMemCreate)                                                                                 \
    X(cuMemRelease)                                                                                \
    X(cuMemMap)                                                                                    \
    X(cuMemUnmap)                                                                                  \
    X(cuMemSetAccess)                                                                              \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleUnload)                                                                              \
    X(cuModuleGetFunction)                                                                         \
    X(cuFuncSetAttribute)                                                                          \
    X(cuLaunchKernel)                                                                              \
    X(cuStreamCreate)                                                                              \
    X(cuStreamSynchronize)                                                                         \
    X(cuEventCreate)                                                                               \
    X(cuEventRecord)                                                                               \
    X(cuEventElapsedTime)

struct CudaDriver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given
#define KERNELSKILL_MEMBER(name) decltype(&::name) name = nullptr;
    KERNELSKILL_DRIVER_FUNCTIONS(KERNELSKILL_MEMBER)
#undef KERNELSKILL_MEMBER

    /// Missing, with a remedy, if there is no driver or it is too old.
    [[nodiscard]] static Result<CudaDriver> load();

    /// Failed, with CUDA's own name and text for `status`; `step` says what was attempted.
    [[nodiscard]] Error failure(const char* step, CUresult status) const;
    /// An error if `status` is one.
    [[nodiscard]] Result<void> check(const char* step, CUresult status) const {
        if (status != CUDA_SUCCESS)
            return std::unexpected(failure(step, status));
        return {};
    }
};

} // namespace kernelskill::engine::gpu
