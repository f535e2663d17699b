/// The 32-byte sectors that a round of a loop touches, by who of a warp's lanes works on it.
#pragma once

#include "analysis/nest/nest.h"

namespace kernelskill::skills {

struct LaneSectors {
    double asThreads = 0; ///< Each lane in a loop of its own, as the kernel is written.
    /// Of asThreads, the sectors that lanes touch which are surely apart: one for an access of
    /// which the text does not tell where the next lane is.
    double surelyAsThreads = 0;
    double asLanes = 0; ///< The lanes on 32 rounds of one loop, side by side.
};

/// Returns the sectors of all accesses in the loop, each access counted once.
[[nodiscard]] LaneSectors laneSectors(const analysis::Nest& nest, analysis::NestNodeId loop);

} // namespace kernelskill::skills
