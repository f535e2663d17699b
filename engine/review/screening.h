/// A glance at a candidate on a GPU, which tells whether its review is worth the time.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/verdict/verdict.h"
#include "skills/base/accuracy.h"

#include <cstdint>
#include <optional>
#include <stop_token>

namespace kernelskill::engine {

struct Screening {
    double speedup = 1; ///< The median of a few rounds.
    /// Set if a review would be wasted: the candidate does not compile for the GPU, fails there,
    /// gives other results or is not faster.
    std::optional<Verdict> refusal;
};

/// nullopt if nothing can be said: the edit changes the program around the kernel, or the original
/// cannot be measured.
[[nodiscard]] std::optional<Screening> screenOnGpu(GpuExecutor& gpu, Executor& emulator,
                                                   KernelRef original, KernelRef candidate,
                                                   const skills::Accuracy& accuracy,
                                                   std::uint64_t seed, const std::stop_token& stop);

} // namespace kernelskill::engine
