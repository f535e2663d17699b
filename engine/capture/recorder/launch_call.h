/// Extracts launches from CUPTI's callbacks.
#pragma once

#include "engine/capture/captured_launch.h"
#include "engine/capture/recorder/driver_functions.h"

#include <array>
#include <cstdint>
#include <cuda.h>
#include <optional>
#include <vector>

namespace kernelskill::engine::capture {

/// A launch as the program requests it from the driver.
struct LaunchCall {
    const char* symbol = nullptr;
    CUfunction function = nullptr;
    std::array<unsigned, 3> grid{};
    std::array<unsigned, 3> block{};
    unsigned sharedBytes = 0;
    CUstream stream = nullptr; ///< A handle that has the same meaning for every driver function.
    void** parameters = nullptr;
    void** extra = nullptr;
    /// The attributes that change how the kernel runs: cooperative, clusters. Attributes of the
    /// launch's place in a stream are left out.
    std::vector<CUlaunchAttribute> attributes;
};

/// The launch in the arguments of the driver function with this callback identifier, without the
/// symbol; nullopt if the function launches nothing.
[[nodiscard]] std::optional<LaunchCall> launchCallOf(std::uint32_t function, const void* arguments);

/// The bytes that are passed for each parameter, by the kernel's own layout. Unsupported if they
/// are passed in a way that is not known. May throw std::bad_alloc.
[[nodiscard]] Result<std::vector<CapturedParameter>> parametersOf(const LaunchCall& call,
                                                                  const DriverFunctions& driver);

/// Whether the handle that launches take is a CUfunction; else it is a CUkernel, which has no
/// module.
[[nodiscard]] bool isFunction(CUfunction handle, const DriverFunctions& driver);

} // namespace kernelskill::engine::capture
