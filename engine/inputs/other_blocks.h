/// Blocks of other sizes for a launch whose program does not state its block.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/launch_inference.h"

#include <vector>

namespace kernelskill::engine {

/// Blocks that `launch`, of both kernels, could have as well, as far as the kernels tell. Empty if
/// shared memory or a third axis depends on the block.
[[nodiscard]] std::vector<Dim3> otherBlocks(KernelInFile original, KernelInFile candidate,
                                            const LaunchSpec& launch);

/// A grid of these blocks that covers as many threads as `launch` along each axis. If blocks have
/// two axes, a grid axis of several blocks covers as many counted with either block axis.
[[nodiscard]] Dim3 gridOfBlocks(const LaunchSpec& launch, const Dim3& block);

} // namespace kernelskill::engine
