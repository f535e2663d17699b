/// An activity of a GPU for a program: a kernel, a copy or a memset.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kernelskill::engine {

enum class ActivityKind : std::uint8_t { Kernel, Copy, Set };

struct DeviceActivity {
    ActivityKind kind = ActivityKind::Kernel;
    /// A kernel's mangled name; a copy's direction, such as "HtoD"; else empty.
    std::string name;
    std::uint64_t begin = 0; ///< Nanoseconds on CUPTI's clock.
    std::uint64_t end = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    /// Only for a kernel, like all further members except `bytes`.
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t registers = 0;   ///< Registers per thread.
    std::uint64_t sharedBytes = 0; ///< Shared memory per block, static and dynamic.
    std::uint64_t bytes = 0;       ///< Only for a copy or a memset.

    bool operator==(const DeviceActivity&) const = default;
    [[nodiscard]] std::uint64_t nanoseconds() const { return end > begin ? end - begin : 0; }
};

} // namespace kernelskill::engine
