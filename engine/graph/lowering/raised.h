/// Raises PyTorch programs: each operator becomes loops over elements, by a table of rules. Views
/// cost nothing, and maps of maps are one.
#pragma once

#include "analysis/raise/program.h"
#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// A raised graph. A node that has no rule, or that its rule does not take, is left to a library,
/// with the reason. The program's buffers have the names of the graph's values as their sources.
struct Raised {
    analysis::raise::Program program;
    /// The buffers of the graph's inputs and outputs, in their order; inputs that are no tensors,
    /// and outputs that no node computes, have none.
    std::vector<std::optional<analysis::raise::BufferId>> inputs;
    std::vector<std::optional<analysis::raise::BufferId>> outputs;
    /// The shapes of all tensors of the graph.
    std::map<std::string, std::vector<analysis::raise::Index>> shapes;
    /// The integers of the graph that are computed of extents.
    std::map<std::string, analysis::raise::Index> integers;
};

/// Says which nodes are left to a library.
enum class LeftToLibrary : std::uint8_t {
    WhatHasNoRule,
    LinearAlgebra, ///< Products, convolutions and attention as well.
};

/// The cost of an operator, as far as it decides who runs it.
enum class OperatorKind : std::uint8_t {
    LinearAlgebra, ///< Products, convolutions and attention.
    Reduction,     ///< Reductions, scans, normalisations, pools and losses.
    View,          ///< Costs nothing where its result is read.
    Elementwise,
    Other, ///< It makes tensors, is a recurrent layer, or has no rule.
};
[[nodiscard]] OperatorKind operatorKind(std::string_view target);

/// Raises the whole graph. `nodes` are left to a library, too. Those of `channelsLast` that are
/// left to a library get and give tensors in channels-last order; the nodes around them store their
/// results in that order, too (channels_last_nodes.h). Unsupported, with the node, if an extent of
/// an input depends on data, follows from symbols by other than sums, products and quotients, or if
/// a node reads a number that is computed of extents and no integer.
[[nodiscard]] Result<Raised> raised(const Program& graph,
                                    LeftToLibrary left = LeftToLibrary::WhatHasNoRule,
                                    const std::set<std::string>& nodes = {},
                                    const std::set<std::string>& channelsLast = {});

/// Returns the operators that have a rule: "aten.linear.default".
[[nodiscard]] std::vector<std::string> raisedOperators();

} // namespace kernelskill::engine::graph
