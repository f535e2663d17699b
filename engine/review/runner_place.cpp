#include "engine/review/runner_place.h"

#include "engine/review/gpu_measurement.h"

namespace kernelskill::engine {

std::vector<Result<Screening>> RunnerPlace::screen(KernelRef original,
                                                   std::span<const KernelRef> candidates,
                                                   std::uint64_t seed,
                                                   const std::stop_token& stop) {
    return screenOnGpu(gpu_, emulator_, original, candidates, seed, stop);
}

Result<GpuMeasurement> RunnerPlace::measure(const MeasuredEdit& edit, const std::stop_token& stop) {
    return GpuMeasurer(gpu_, emulator_, edit.original, edit.candidate, edit.accuracy)
        .measure(edit.seed, stop);
}

} // namespace kernelskill::engine
