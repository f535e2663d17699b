/// The order that barriers give to the statements of a block.
#pragma once

#include "analysis/nest/nest.h"

namespace kernelskill::analysis {

/// Whether every thread of the block has run `first` when any runs `second`, wherever both are in
/// one round of the loops around both, and the other way round from one round to the next. False
/// where no barrier is found that holds for both.
[[nodiscard]] bool isSeparatedByBarrier(const Nest& nest, NestNodeId first, NestNodeId second);

/// Whether a barrier stands between any run of one node and any run of the other in a later round
/// of `loop`, which is around both. Then two threads of a block can only race within one round.
[[nodiscard]] bool areRoundsSeparated(const Nest& nest, NestNodeId loop, NestNodeId first,
                                      NestNodeId second);

} // namespace kernelskill::analysis
