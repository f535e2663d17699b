/// Measures in the GPU runner, a process of KernelSkill's that a faulting kernel may end.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/measuring_place.h"

namespace kernelskill::engine {

/// Launches are those of the file, on captured data if there are any; the emulator finds the
/// lengths of buffers without one.
class RunnerPlace final : public MeasuringPlace {
public:
    /// Both arguments outlive the object.
    RunnerPlace(GpuExecutor& gpu, Executor& emulator) : gpu_(gpu), emulator_(emulator) {}

    [[nodiscard]] bool hasOwnLaunch() const override { return false; }
    /// See screenOnGpu().
    [[nodiscard]] std::vector<Result<Screening>> screen(KernelRef original,
                                                        std::span<const KernelRef> candidates,
                                                        std::uint64_t seed,
                                                        const std::stop_token& stop) override;
    /// See GpuMeasurer.
    [[nodiscard]] Result<GpuMeasurement> measure(const MeasuredEdit& edit,
                                                 const std::stop_token& stop) override;

private:
    GpuExecutor& gpu_;
    Executor& emulator_;
};

} // namespace kernelskill::engine
