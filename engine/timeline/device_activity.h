/// Something that a GPU did for a program: a kernel, a copy, a set.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kernelskill::engine {

enum class ActivityKind : std::uint8_t { Kernel, Copy, Set };

struct DeviceActivity {
    ActivityKind kind = ActivityKind::Kernel;
    /// A kernel's mangled name; of a copy its direction, like "HtoD"; else empty.
    std::string name;
    std::uint64_t begin = 0; ///< Nanoseconds of CUPTI's clock.
    std::uint64_t end = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::array<std::uint32_t, 3> grid{}; ///< Of a kernel, as is all that follows but `bytes`.
    std::array<std::uint32_t, 3> block{};
    std::uint32_t registers = 0;   ///< A thread's.
    std::uint64_t sharedBytes = 0; ///< A block's, static and dynamic.
    std::uint64_t bytes = 0;       ///< Of a copy or a set.

    bool operator==(const DeviceActivity&) const = default;
    [[nodiscard]] std::uint64_t nanoseconds() const { return end > begin ? end - begin : 0; }
};

} // namespace kernelskill::engine
