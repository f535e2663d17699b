/// The 32-byte sectors that a round of a loop touches, by who of a warp's lanes works on it.
#pragma once

#include "analysis/nest/nest.h"

namespace kernelskill::skills {

struct LaneSectors {
    /// Counts the sectors of a warp whose lanes each run a loop of their own, as the kernel does.
    double asThreads = 0;
    /// Bounds `asThreads` from below: an access counts one sector if the text does not tell how
    /// far apart its lanes are.
    double surelyAsThreads = 0;
    /// Counts the sectors of a warp whose lanes run 32 rounds of one loop side by side.
    double asLanes = 0;
};

/// Returns the sectors of all accesses in the loop, each access counted once.
[[nodiscard]] LaneSectors laneSectors(const analysis::Nest& nest, analysis::NestNodeId loop);

} // namespace kernelskill::skills
