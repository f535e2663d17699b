/// Compares a measured kernel with the ceilings of the GPU that it ran on.
#pragma once

#include "engine/execution/profile.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

/// The best throughput that was measured on the device itself.
struct DeviceCeilings {
    std::string gpu;
    double bytesPerSecond = 0;  ///< DRAM throughput: the larger one of a copy and a read.
    double singlePerSecond = 0; ///< Floating-point operations; a fused one counts as two.
    double doublePerSecond = 0;
    double cacheBytesPerSecond = 0; ///< L2 throughput; 0 if not measured.
};

struct MeasuredRoofline {
    DeviceCeilings ceilings;
    double microseconds = 0; ///< Median time of a launch with cold caches.
    double bytesPerSecond = 0;
    /// nullopt if there were none or they were not counted.
    std::optional<double> operationsPerSecond;
    std::optional<double> intensity; ///< Operations per byte of DRAM.
    double memoryPercent = 0;        ///< The percentage of the memory ceiling.
    std::optional<double> computePercent;
    /// The percentage of the roofline that the kernel reaches: the larger one of memory and
    /// arithmetic.
    [[nodiscard]] double percent() const;
};

/// nullopt unless `profile` has a time and the bytes that DRAM moved.
[[nodiscard]] std::optional<MeasuredRoofline> measuredRooflineOf(const Profile& profile,
                                                                 const DeviceCeilings& ceilings);

/// "72.1 us: 3.72 TB/s, 88 % of what this NVIDIA H200 moves at best; 1.2 TFLOP/s, 2 % of its
/// multiply-adds; 0.33 FLOP per byte"
[[nodiscard]] std::string describe(const MeasuredRoofline& roofline);

} // namespace kernelskill::engine
