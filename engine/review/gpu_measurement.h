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
                                                  skills::Numerics numerics, std::uint64_t seed,
                                                  const std::stop_token& stop);

/// The least time, in microseconds, that the data which `launch` reads, as `counted` on the
/// emulator, takes to come from the memory of `device`; nullopt when that is not known.
[[nodiscard]] std::optional<double> trafficFloor(const LaunchSpec& launch, const Metrics& counted,
                                                 const gpu::DeviceDescription& device);

} // namespace kernelskill::engine
