/// The driver's functions that the recorders call. The program has loaded the driver.
#pragma once

#include "engine/process/shared_library.h"

#include <cuda.h>
#include <string>

namespace kernelskill::engine::capture {

#define KERNELSKILL_CAPTURE_FUNCTIONS(X)                                                           \
    X(cuCtxGetDevice)                                                                              \
    X(cuDeviceGetName)                                                                             \
    X(cuEventCreate)                                                                               \
    X(cuEventDestroy)                                                                              \
    X(cuEventQuery)                                                                                \
    X(cuEventRecord)                                                                               \
    X(cuFuncGetModule)                                                                             \
    X(cuFuncGetParamInfo)                                                                          \
    X(cuKernelGetParamInfo)                                                                        \
    X(cuMemGetAddressRange)                                                                        \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy)                                                                             \
    X(cuStreamIsCapturing)                                                                         \
    X(cuStreamSynchronize)                                                                         \
    X(cuThreadExchangeStreamCaptureMode)

// Captures do without these.
#define KERNELSKILL_REPLAY_FUNCTIONS(X)                                                            \
    X(cuCtxGetCurrent)                                                                             \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)                                                                            \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuFuncGetAttribute)                                                                          \
    X(cuFuncSetAttribute)                                                                          \
    X(cuGetErrorName)                                                                              \
    X(cuGetErrorString)                                                                            \
    X(cuKernelGetFunction)                                                                         \
    X(cuLaunchKernelEx)                                                                            \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemFreeHost)                                                                               \
    X(cuMemGetInfo)                                                                                \
    X(cuMemHostAlloc)                                                                              \
    X(cuMemcpyDtoDAsync)                                                                           \
    X(cuMemcpyHtoDAsync)                                                                           \
    X(cuMemsetD8Async)                                                                             \
    X(cuModuleGetFunction)                                                                         \
    X(cuModuleGetGlobal)                                                                           \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleUnload)

/// The declarations of cuda.h, which names the newest version of each function by a macro.
struct DriverFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given
#define KERNELSKILL_MEMBER(name) decltype(&::name) name = nullptr;
    KERNELSKILL_CAPTURE_FUNCTIONS(KERNELSKILL_MEMBER)
    KERNELSKILL_REPLAY_FUNCTIONS(KERNELSKILL_MEMBER)
    KERNELSKILL_MEMBER(cuEventElapsedTime)
#undef KERNELSKILL_MEMBER

    /// A function that captures do without and this driver lacks; null: there is none.
    const char* missingForReplay = nullptr;

    /// Missing, with the function's name, if the driver is older than CUDA 12.4.
    [[nodiscard]] static Result<DriverFunctions> load();
    /// Loads them as load() does. Missing also if the driver lacks a function that captures do
    /// without.
    [[nodiscard]] static Result<DriverFunctions> loadAll();

    /// Failed, with CUDA's own name and text for `status`; `step` says what was attempted.
    [[nodiscard]] Error failure(const std::string& step, CUresult status) const;
    /// An error if `status` is one.
    [[nodiscard]] Result<void> check(const char* step, CUresult status) const {
        if (status != CUDA_SUCCESS)
            return std::unexpected(failure(step, status));
        return {};
    }
};

} // namespace kernelskill::engine::capture
