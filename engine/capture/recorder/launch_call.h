/// Extracts launches from CUPTI's callbacks.
#pragma once

#include <array>
#include <cstdint>
#include <cuda.h>
#include <optional>

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
};

/// The launch in the arguments of the driver function with this callback identifier, without the
/// symbol; nullopt if the function launches nothing.
[[nodiscard]] std::optional<LaunchCall> launchCallOf(std::uint32_t function, const void* arguments);

} // namespace kernelskill::engine::capture
