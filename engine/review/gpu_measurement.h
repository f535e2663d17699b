/// The last step of a review if there is a GPU. Checks that both kernels agree on the GPU with the
/// launch configuration of the file, and measures which one is faster.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/measuring_place.h"
#include "engine/review/review_images.h"
#include "engine/review/timing_verdict.h"
#include "engine/verdict/check_result.h"

#include <cstdint>
#include <optional>
#include <stop_token>

namespace kernelskill::engine {

/// Compares and times two versions of a kernel on a GPU, on the program's captured data if there
/// are any. Keeps references to its arguments. The emulator finds the lengths of buffers without
/// one. Errors say why nothing could be measured, which is not the edit's fault.
class GpuMeasurer {
public:
    GpuMeasurer(GpuExecutor& gpu, Executor& emulator, KernelRef original, KernelRef candidate,
                const skills::Accuracy& accuracy)
        : gpu_(gpu), emulator_(emulator), original_(original), candidate_(candidate),
          accuracy_(accuracy) {}

    /// Compares several launches of the candidate, because a race shows by chance only, asks
    /// compute-sanitizer about both if that is wanted, and times both for some seconds.
    [[nodiscard]] Result<GpuMeasurement> measure(std::uint64_t seed, const std::stop_token& stop);

private:
    struct Prepared;
    [[nodiscard]] Result<Prepared> prepare(std::uint64_t seed, const std::stop_token& stop);
    [[nodiscard]] Result<CheckResult> compare(const Prepared& prepared, std::uint32_t launches,
                                              std::uint64_t seed, const std::stop_token& stop);
    [[nodiscard]] CheckResult sanitize(const Prepared& prepared, std::uint64_t seed,
                                       const std::stop_token& stop);
    [[nodiscard]] Result<TimingVerdict> time(const Prepared& prepared, std::uint64_t seed,
                                             const std::stop_token& stop);

    GpuExecutor& gpu_;
    Executor& emulator_;
    KernelRef original_;
    KernelRef candidate_;
    const skills::Accuracy& accuracy_;
};

/// The minimum time in microseconds that the memory of `device` needs to deliver the data that
/// `launch` reads, as the emulator `counted` it; nullopt if unknown.
[[nodiscard]] std::optional<double> trafficFloor(const LaunchSpec& launch, const Metrics& counted,
                                                 const gpu::DeviceDescription& device);

} // namespace kernelskill::engine
