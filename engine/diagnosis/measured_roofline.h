/// Where a measured kernel stands under the ceilings of the GPU that it ran on.
#pragma once

#include "engine/execution/profile.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

/// What a GPU reaches at best, measured on that very device.
struct DeviceCeilings {
    std::string gpu;
    double bytesPerSecond = 0;  ///< Of DRAM: of a copy or of a read, whichever is more.
    double singlePerSecond = 0; ///< Floating-point operations, a fused one as two.
    double doublePerSecond = 0;
    double cacheBytesPerSecond = 0; ///< Of L2; 0: not measured.
};

struct MeasuredRoofline {
    DeviceCeilings ceilings;
    double microseconds = 0; ///< Median of a launch, caches cold.
    double bytesPerSecond = 0;
    std::optional<double> operationsPerSecond; ///< nullopt: none, or not counted.
    std::optional<double> intensity;           ///< Operations per byte of DRAM.
    double memoryPercent = 0;                  ///< Of the ceiling.
    std::optional<double> computePercent;
    /// Of the roofline: the larger of both.
    [[nodiscard]] double percent() const;
};

/// nullopt unless `profile` holds a time and what DRAM moved.
[[nodiscard]] std::optional<MeasuredRoofline> measuredRooflineOf(const Profile& profile,
                                                                 const DeviceCeilings& ceilings);

/// "72.1 us: 3.72 TB/s, 88 % of what this NVIDIA H200 moves at best; 1.2 TFLOP/s, 2 % of its
/// multiply-adds; 0.33 FLOP per byte"
[[nodiscard]] std::string describe(const MeasuredRoofline& roofline);

} // namespace kernelskill::engine
