/// Finds the nodes whose results are stored in channels-last order (analysis/raise/channels_last.h)
/// where a library runs a graph's convolutions in that order.
#pragma once

#include "engine/graph/program.h"

#include <set>
#include <string>

namespace kernelskill::engine::graph {

/// Names the convolutions that can be run in either order: those along two or three axes, of
/// batches.
[[nodiscard]] std::set<std::string> imageConvolutions(const Program& graph);

/// Adds to the convolutions the nodes around them whose results are stored in that order, too, so
/// that no result is transposed more often than necessary. A chain of element-wise operators,
/// normalisations, pools and concatenations of tensors with as many axes leads from such a node to
/// a convolution, in either direction.
[[nodiscard]] std::set<std::string> channelsLastNodes(const Program& graph,
                                                      const std::set<std::string>& convolutions);

} // namespace kernelskill::engine::graph
