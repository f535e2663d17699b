/// The driver's functions that the recorder calls. The program has loaded the driver.
#pragma once

#include "engine/process/shared_library.h"

#include <cuda.h>

namespace kernelskill::engine::capture {

#define KERNELSKILL_CAPTURE_FUNCTIONS(X)                                                           \
    X(cuCtxGetDevice)                                                                              \
    X(cuDeviceGetName)                                                                             \
    X(cuMemGetAddressRange)                                                                        \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy)                                                                             \
    X(cuStreamSynchronize)                                                                         \
    X(cuStreamIsCapturing)                                                                         \
    X(cuEventCreate)                                                                               \
    X(cuEventRecord)                                                                               \
    X(cuEventQuery)                                                                                \
    X(cuEventDestroy)                                                                              \
    X(cuThreadExchangeStreamCaptureMode)                                                           \
    X(cuFuncGetModule)                                                                             \
    X(cuFuncGetParamInfo)                                                                          \
    X(cuKernelGetParamInfo)

/// The declarations of cuda.h, which names the newest version of each function by a macro.
struct DriverFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given
#define KERNELSKILL_MEMBER(name) decltype(&::name) name = nullptr;
    KERNELSKILL_CAPTURE_FUNCTIONS(KERNELSKILL_MEMBER)
#undef KERNELSKILL_MEMBER

    /// Missing, with the function's name, if the driver is older than CUDA 12.4.
    [[nodiscard]] static Result<DriverFunctions> load();
};

} // namespace kernelskill::engine::capture
