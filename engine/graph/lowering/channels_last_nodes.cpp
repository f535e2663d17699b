#include "engine/graph/lowering/channels_last_nodes.h"

#include "analysis/raise/channels_last.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/operators.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

/// The number of the value's axes; 0 for what is no tensor.
std::size_t rankOf(const Program& graph, const std::string& value) {
    const auto type = graph.values.find(value);
    return type != graph.values.end() ? type->second.sizes.size() : 0;
}

/// Whether axes keep their meaning from operands to results of as many axes.
bool keepsAxes(std::string_view target) {
    constexpr std::array<std::string_view, 5> views = {"aten.cat.default", "aten.chunk.default",
                                                       "aten.pad.default", "aten.slice.Tensor",
                                                       "aten.split.Tensor"};
    const OperatorKind kind = operatorKind(target);
    return kind == OperatorKind::Elementwise || kind == OperatorKind::Reduction ||
           std::ranges::find(views, target) != views.end();
}

/// The tensors that a node reads and gives.
std::vector<std::string> tensorsOf(const Program& graph, const Node& node) {
    std::vector<std::string> tensors;
    const auto add = [&](const std::string& value) {
        if (graph.values.contains(value))
            tensors.push_back(value);
    };
    for (const NamedArgument& argument : node.arguments)
        std::ranges::for_each(valuesIn(argument.value), add);
    for (const std::vector<std::string>& names : node.results)
        std::ranges::for_each(names, add);
    return tensors;
}

} // namespace

std::set<std::string> imageConvolutions(const Program& graph) {
    std::set<std::string> found;
    for (const Node& node : graph.nodes) {
        const std::size_t axes = convolvedAxes(node.target);
        if (axes >= 2 && node.results.size() == 1 && node.results[0].size() == 1 &&
            rankOf(graph, node.results[0][0]) == axes + 2)
            found.insert(node.name);
    }
    return found;
}

std::set<std::string> channelsLastNodes(const Program& graph,
                                        const std::set<std::string>& convolutions) {
    std::map<std::string, std::vector<const Node*>> nodesAt; // By the tensors that they touch.
    std::vector<const Node*> open;
    for (const Node& node : graph.nodes) {
        for (const std::string& tensor : tensorsOf(graph, node))
            nodesAt[tensor].push_back(&node);
        if (convolutions.contains(node.name))
            open.push_back(&node);
    }
    std::set<std::string> found = convolutions;
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        for (const std::string& tensor : tensorsOf(graph, node)) {
            if (!analysis::raise::hasChannelsLast(rankOf(graph, tensor)))
                continue;
            for (const Node* next : nodesAt[tensor])
                if (keepsAxes(next->target) && found.insert(next->name).second)
                    open.push_back(next);
        }
    }
    return found;
}

} // namespace kernelskill::engine::graph
