/// The traffic of a warp's requests, from the kernel's index expressions, for the threads as they
/// are and for threads that would be placed otherwise.
#pragma once

#include "skills/base/skill.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>

namespace kernelskill::skills {

/// Values of the symbols that lanes differ in; all others are the same for the warp. Given for each
/// lane, 0 to 31.
using LaneSymbols = std::function<std::map<analysis::Symbol, std::int64_t>(int lane)>;

/// threadIdx of the lanes of a block's first warp.
[[nodiscard]] LaneSymbols lanesOfBlock(const std::array<std::int64_t, 3>& block);

struct WarpTraffic {
    double sectors = 0;  ///< 32-byte sectors, each request weighed by the loops around it.
    double least = 0;    ///< That the bytes asked for would fill.
    double requests = 0; ///< Weighed alike.
};

/// The traffic of the accesses to global memory whose index is a polynomial and whose width is
/// known. A size that is not known counts as large if it is the same for all threads; a loop as 16
/// rounds.
[[nodiscard]] WarpTraffic warpTraffic(const SkillContext& context, const LaneSymbols& lanes);

} // namespace kernelskill::skills
