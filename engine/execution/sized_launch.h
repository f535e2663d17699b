/// Finds the lengths of all buffers of a launch, which a GPU needs before it runs.
#pragma once

#include "engine/execution/executor.h"

#include <cstdint>
#include <stop_token>

namespace kernelskill::engine {

struct SizedLaunch {
    LaunchSpec launch;
    /// The emulator's profile of the same launch: counts, hazards, extents. Sampled if the launch
    /// is large.
    Profile profile;
};

/// The maximum number of blocks that an emulated profile runs. If the grid has more, blocks are
/// sampled and counts scaled.
[[nodiscard]] std::uint64_t profiledBlocks(const LaunchSpec& launch);

[[nodiscard]] bool hasAllSizes(const LaunchSpec& launch);

/// How much of a launch the emulator runs if a GPU runs it as well.
enum class EmulatedPart : std::uint8_t {
    Profiled, ///< profiledBlocks().
    /// The few blocks that are enough to find hazards and line counts, because the GPU counts the
    /// rest. If a buffer has no length yet, as many as profiledBlocks().
    Few,
};

/// Runs `launch` on `emulator`. If that fails although every buffer has its length, the profile is
/// empty except for a note with the reason. Else returns the emulator's error.
[[nodiscard]] Result<SizedLaunch> sizedLaunch(Executor& emulator, KernelRef kernel,
                                              const LaunchSpec& launch, const std::stop_token& stop,
                                              EmulatedPart part = EmulatedPart::Profiled);

} // namespace kernelskill::engine
