/// A launch whose buffers all have their lengths, which a GPU needs before it runs.
#pragma once

#include "engine/execution/executor.h"

#include <cstdint>
#include <stop_token>

namespace kernelskill::engine {

struct SizedLaunch {
    LaunchSpec launch;
    /// Of the same launch on the emulator, sampled where it is large: counts, hazards, extents.
    Profile profile;
};

/// How many blocks of a launch an emulated profile runs: beyond, they are sampled and counts
/// scaled.
[[nodiscard]] std::uint64_t profiledBlocks(const LaunchSpec& launch);

[[nodiscard]] bool hasAllSizes(const LaunchSpec& launch);

/// How much of a launch the emulator runs beside a GPU.
enum class EmulatedPart : std::uint8_t {
    Profiled, ///< profiledBlocks().
    /// As few blocks as show hazards and lines: the GPU counts the rest before they are run. Where
    /// a buffer has no length yet, profiledBlocks().
    Few,
};

/// Runs `launch` on `emulator`. Where that fails and every buffer has its length already, the
/// profile holds nothing but a note that says why; else the error is the emulator's.
[[nodiscard]] Result<SizedLaunch> sizedLaunch(Executor& emulator, KernelRef kernel,
                                              const LaunchSpec& launch, const std::stop_token& stop,
                                              EmulatedPart part = EmulatedPart::Profiled);

} // namespace kernelskill::engine
