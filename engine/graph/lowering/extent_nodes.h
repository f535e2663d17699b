/// Nodes that compute integers of extents, which kernels take as arguments: no kernel does their
/// work.
#pragma once

#include "engine/graph/lowering/lowering.h"

namespace kernelskill::engine::graph {

/// Defines the results of the node that was entered, one of isOfExtents(). A result that is no
/// integer, a truth or a fraction, gets no value.
void raiseExtents(Lowering& in, const Program& graph);

} // namespace kernelskill::engine::graph
