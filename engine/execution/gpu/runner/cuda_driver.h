/// CUDA's driver API, loaded at run time. The members have the names of the functions, so that a
/// call reads as NVIDIA documents it.
#pragma once

#include "analysis/source/error.h"

#include <cuda.h>
#include <string>

namespace kernelskill::engine::gpu {

// cuda.h renames functions to their newest version by macros; they are expanded here and in calls
// alike.
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

    /// Missing, with the remedy, when there is no driver or it is too old.
    [[nodiscard]] static Result<CudaDriver> load();

    /// Failed, with CUDA's own name and words for `status`; `step` says what was done.
    [[nodiscard]] Error failure(const char* step, CUresult status) const;
    /// A value unless `status` is an error.
    [[nodiscard]] Result<void> check(const char* step, CUresult status) const {
        if (status != CUDA_SUCCESS)
            return std::unexpected(failure(step, status));
        return {};
    }
};

/// Whether the context is of no more use after `status`: every later call would fail.
[[nodiscard]] bool isSticky(CUresult status);

} // namespace kernelskill::engine::gpu
