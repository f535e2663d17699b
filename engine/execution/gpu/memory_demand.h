/// How much of a GPU's memory a launch asks for.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/job.h"

#include <cstdint>

namespace kernelskill::engine::gpu {

/// Bytes of the buffer, and of the copy that is kept of one that a run may write; the max of the
/// type where that overflows. The buffer has its length.
[[nodiscard]] std::uint64_t memoryDemand(const BufferSpec& buffer);

/// InvalidInput, with the remedy, if `launch` was guessed and `demandedBytes` is more than half of
/// `freeBytes`: a wrong guess must not take the GPU from others.
[[nodiscard]] Result<void> checkGuessedDemand(const LaunchSpec& launch, std::uint64_t demandedBytes,
                                              std::uint64_t freeBytes);

} // namespace kernelskill::engine::gpu
