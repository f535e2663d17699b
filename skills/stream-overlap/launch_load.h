/// How much of a GPU a launch takes, and for how long.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>

namespace kernelskill::skills {

/// The multiprocessors of an H100 or H200 with SXM; GPUs that are smaller are filled sooner.
inline constexpr std::int64_t multiprocessors = 132;

struct LaunchLoad {
    std::int64_t blocks = 0;
    double share =
        0; ///< The share of the blocks that all multiprocessors hold at once; above 1: in waves.
    /// Accesses to global and shared memory that a thread makes one after the other, or rounds of
    /// its loops, at most; nullopt: the rounds of a loop are not known.
    std::optional<double> steps;
};

/// Refuses with `size-unknown`. Registers and shared memory count where the kernel at the cursor
/// was compiled.
[[nodiscard]] Gated<LaunchLoad> loadOf(const SkillContext& context,
                                       const analysis::LaunchSite& launch);

/// Times faster at most if such launches run side by side instead of one after the other.
[[nodiscard]] double overlapGain(const std::vector<LaunchLoad>& loads);

} // namespace kernelskill::skills
