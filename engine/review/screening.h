/// A glance at candidates on a GPU, which tells whether their reviews are worth the time.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/verdict/verdict.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct Screening {
    double speedup = 1; ///< The median of a few rounds.
    /// Set if a review would be wasted, because the candidate is not faster. Its results were not
    /// compared.
    std::optional<Verdict> refusal;
};

/// The screening by the times of each round, in microseconds. `place` is where they were taken:
/// "the NVIDIA H200 at n=1024".
[[nodiscard]] Screening screeningOf(std::span<const double> original,
                                    std::span<const double> candidate, const std::string& place);

/// Makes the result of a candidate that has no time.
[[nodiscard]] std::unexpected<Error> notTimed(std::string why);
/// Makes the results of so many candidates, none of which has a time.
[[nodiscard]] std::vector<Result<Screening>> noneTimed(std::size_t count, const std::string& why);

/// Times all `candidates` beside the original, in one go. The error of one says why it has no time:
/// it changes the program around the kernel, or does not compile or run on the GPU.
[[nodiscard]] std::vector<Result<Screening>>
screenOnGpu(GpuExecutor& gpu, Executor& emulator, KernelRef original,
            std::span<const KernelRef> candidates, std::uint64_t seed, const std::stop_token& stop);

} // namespace kernelskill::engine
