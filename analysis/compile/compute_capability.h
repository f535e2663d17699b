/// The resources of a multiprocessor for each compute capability, from which occupancy follows.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kernelskill::analysis {

struct ComputeCapability {
    int major = 0;
    int minor = 0;
    auto operator<=>(const ComputeCapability&) const = default;
};

/// The capability in "sm_90", "sm_90a", "compute_120f" or "9.0"; nullopt for anything else
/// ("native", "all").
[[nodiscard]] std::optional<ComputeCapability> computeCapabilityOf(std::string_view text);
/// "sm_90"
[[nodiscard]] std::string architectureName(ComputeCapability capability);

struct MultiprocessorLimits {
    ComputeCapability capability;
    std::uint32_t warps = 0;
    std::uint32_t blocks = 0;
    std::uint32_t sharedBytes = 0;         ///< With the maximum carve-out for shared memory.
    std::uint32_t sharedBytesPerBlock = 0; ///< After cudaFuncSetAttribute; 48 KB without it.
    std::uint32_t sharedAllocationUnit = 0;
    /// Used by the driver, in addition to the kernel's.
    std::uint32_t sharedBytesReservedPerBlock = 0;

    // The same on every listed capability.
    static constexpr std::uint32_t threadsPerWarp = 32;
    static constexpr std::uint32_t threadsPerBlock = 1024;
    static constexpr std::uint32_t registers = 65'536;
    static constexpr std::uint32_t registersPerThread = 255;
    static constexpr std::uint32_t registerAllocationUnit =
        256; ///< Registers; each warp gets a multiple.
    static constexpr std::uint32_t partitions =
        4; ///< Schedulers; each has its share of the registers.
    static constexpr std::uint32_t staticSharedBytesPerBlock = 49'152;
};

/// All known capabilities, oldest first.
[[nodiscard]] std::span<const MultiprocessorLimits> knownMultiprocessors();
/// nullopt if the capability is not in the table.
[[nodiscard]] std::optional<MultiprocessorLimits> limitsOf(ComputeCapability capability);

} // namespace kernelskill::analysis
