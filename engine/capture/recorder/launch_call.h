/// Launches as CUPTI shows them to a callback.
#pragma once

#include <array>
#include <cstdint>
#include <cuda.h>
#include <optional>

namespace kernelskill::engine::capture {

/// A launch as the driver is asked for it.
struct LaunchCall {
    const char* symbol = nullptr;
    CUfunction function = nullptr;
    std::array<unsigned, 3> grid{};
    std::array<unsigned, 3> block{};
    unsigned sharedBytes = 0;
    CUstream stream = nullptr; ///< A handle that means the same to every function of the driver.
    void** parameters = nullptr;
    void** extra = nullptr;
};

/// From the arguments of the driver's function with that callback identifier, all but the symbol;
/// nullopt when it launches nothing.
[[nodiscard]] std::optional<LaunchCall> launchCallOf(std::uint32_t function, const void* arguments);

} // namespace kernelskill::engine::capture
