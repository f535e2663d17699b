/// The last step of a review if there is a GPU. Checks that both kernels agree on the GPU with the
/// launch configuration of the file, and measures which one is faster.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/review_images.h"
#include "engine/review/timing_verdict.h"
#include "engine/verdict/check_result.h"

#include <optional>
#include <stop_token>

namespace kernelskill::engine {

struct GpuMeasurement {
    CheckResult agreement;               ///< Whether the results on the GPU agree.
    std::optional<TimingVerdict> timing; ///< nullopt if they do not agree.
};

/// The emulator finds the lengths of buffers without one. An error says why nothing could be
/// measured, which is not the edit's fault.
[[nodiscard]] Result<GpuMeasurement> measureOnGpu(GpuExecutor& gpu, Executor& emulator,
                                                  KernelRef original, KernelRef candidate,
                                                  const skills::Accuracy& accuracy,
                                                  std::uint64_t seed, const std::stop_token& stop);

/// The minimum time in microseconds that the memory of `device` needs to deliver the data that
/// `launch` reads, as the emulator `counted` it; nullopt if unknown.
[[nodiscard]] std::optional<double> trafficFloor(const LaunchSpec& launch, const Metrics& counted,
                                                 const gpu::DeviceDescription& device);

} // namespace kernelskill::engine
