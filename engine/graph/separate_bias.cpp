#include "engine/graph/separate_bias.h"

#include "engine/graph/operators.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

std::string freshValue(const Program& program, std::string name) {
    while (program.values.contains(name))
        name += "_";
    return name;
}

/// The value of the node's bias; null if it has none, or a result that no addition can follow.
const ValueName* biasOf(const Program& program, const Node& node) {
    const auto bias = std::ranges::find(node.arguments, "bias", &NamedArgument::name);
    if (convolvedAxes(node.target) == 0 || bias == node.arguments.end())
        return nullptr;
    const bool hasOneResult = node.results.size() == 1 && node.results[0].size() == 1 &&
                              program.values.contains(node.results[0][0]);
    return hasOneResult ? std::get_if<ValueName>(&bias->value) : nullptr;
}

} // namespace

Program withSeparateBias(Program program) {
    std::vector<Node> nodes;
    for (Node& node : program.nodes) {
        const ValueName* given = biasOf(program, node);
        if (given == nullptr || !program.values.contains(given->name)) {
            nodes.push_back(std::move(node));
            continue;
        }
        const ValueName bias = *given;
        const std::string result = node.results[0][0];
        const TensorType type = program.values.at(result);
        const std::string unbiased = freshValue(program, result + "_unbiased");
        program.values[unbiased] = type;
        const std::string spread = freshValue(program, result + "_bias");
        TensorType biasType = program.values.at(bias.name);
        std::vector<std::int64_t> shape = {biasType.sizes.at(0).value};
        for (std::size_t i = 0; i < convolvedAxes(node.target); ++i) {
            shape.push_back(1);
            biasType.sizes.push_back({1, ""});
            biasType.strides.push_back({1, ""});
        }
        program.values[spread] = biasType;
        std::erase_if(node.arguments,
                      [](const NamedArgument& argument) { return argument.name == "bias"; });
        node.results[0][0] = unbiased;
        const std::string name = node.name;
        const std::string module = node.module;
        nodes.push_back(std::move(node));
        nodes.push_back({name + "_bias_view",
                         "aten.view.default",
                         {{"self", bias}, {"size", shape}},
                         {{spread}},
                         module});
        nodes.push_back({name + "_bias_add",
                         "aten.add.Tensor",
                         {{"self", ValueName{unbiased}}, {"other", ValueName{spread}}},
                         {{result}},
                         module});
    }
    program.nodes = std::move(nodes);
    return program;
}

} // namespace kernelskill::engine::graph
