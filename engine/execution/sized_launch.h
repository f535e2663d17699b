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

/// Runs `launch` on `emulator`. Where that fails and every buffer has its length already, the
/// profile holds nothing but a note that says why; else the error is the emulator's.
[[nodiscard]] Result<SizedLaunch> sizedLaunch(Executor& emulator, const ProgramSource& program,
                                              const analysis::KernelModel& kernel,
                                              const LaunchSpec& launch,
                                              const std::stop_token& stop);

} // namespace kernelskill::engine
