/// A glance at candidates on a GPU, which tells whether their reviews are worth the time.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/verdict/verdict.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

struct Screening {
    double speedup = 1; ///< The median of a few rounds.
    /// Set if a review would be wasted, because the candidate is not faster. Its results were not
    /// compared.
    std::optional<Verdict> refusal;
};

/// Times all `candidates` beside the original, in one go. nullopt for one of which nothing can be
/// said: it changes the program around the kernel, or does not compile or run on the GPU.
[[nodiscard]] std::vector<std::optional<Screening>>
screenOnGpu(GpuExecutor& gpu, Executor& emulator, KernelRef original,
            std::span<const KernelRef> candidates, std::uint64_t seed, const std::stop_token& stop);

} // namespace kernelskill::engine
