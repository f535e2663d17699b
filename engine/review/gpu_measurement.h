/// The last step of a review where there is a GPU: whether both kernels agree on it, at the size
/// that the file launches, and which is faster.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/review_images.h"
#include "engine/review/timing_verdict.h"
#include "engine/verdict/check_result.h"

#include <optional>
#include <stop_token>

namespace kernelskill::engine {

struct GpuMeasurement {
    CheckResult agreement;               ///< Of the results on the GPU.
    std::optional<TimingVerdict> timing; ///< Missing where they do not agree.
};

/// The emulator tells how long the buffers are that nobody sized. An error says why nothing could
/// be measured, which is no fault of the edit.
[[nodiscard]] Result<GpuMeasurement> measureOnGpu(GpuExecutor& gpu, Executor& emulator,
                                                  KernelRef original, KernelRef candidate,
                                                  skills::Numerics numerics, std::uint64_t seed,
                                                  const std::stop_token& stop);

/// The least time, in microseconds, that the data which `launch` reads, as `counted` on the
/// emulator, takes to come from the memory of `device`; nullopt when that is not known.
[[nodiscard]] std::optional<double> trafficFloor(const LaunchSpec& launch, const Metrics& counted,
                                                 const gpu::DeviceDescription& device);

} // namespace kernelskill::engine
