/// The work of a launch on the emulator, estimated from a few of its blocks.
#pragma once

#include "engine/execution/executor.h"

#include <cstdint>
#include <optional>
#include <stop_token>

namespace kernelskill::engine {

/// About how many memory accesses the threads of the launch make, all together, and the elements of
/// its buffers, which are filled and compared. The emulator makes some 10^8 in a second. Infinity
/// if even a few blocks take long; nullopt if they do not run.
[[nodiscard]] std::optional<double> workOf(Executor& emulator, const Image& image,
                                           const LaunchSpec& launch, const std::stop_token& stop);

/// At most `blocks`, and so few that a profile of them takes about a second.
[[nodiscard]] std::uint64_t affordableBlocks(Executor& emulator, const Image& image,
                                             const LaunchSpec& launch, std::uint64_t blocks,
                                             const std::stop_token& stop);

} // namespace kernelskill::engine
