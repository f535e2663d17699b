#include "lsp-server/report/program_json.h"

#include "analysis/source/json.h"
#include "engine/graph/extent_relation.h"
#include "engine/graph/limitations.h"
#include "engine/graph/tensor_extents.h"
#include "engine/graph/type_text.h"

#include <spdlog/fmt/fmt.h>

#include <limits>
#include <string_view>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
namespace graph = engine::graph;

/// A number, or the expression of a dynamic one.
json extentJson(const graph::Extent& extent) {
    return extent.isDynamic() ? json(extent.expression) : json(extent.value);
}

json typeJson(const graph::TensorType& type) {
    json sizes = json::array();
    for (const graph::Extent& size : type.sizes)
        sizes.push_back(extentJson(size));
    json strides = json::array();
    for (const graph::Extent& stride : type.strides)
        strides.push_back(extentJson(stride));
    return {{"element", nameOf(type.element)}, {"sizes", sizes}, {"strides", strides}};
}

/// {name, element, sizes, strides} of a tensor; {name, integer} of an integer.
json valueJson(const graph::Program& program, const std::string& name) {
    json value = json::object();
    if (const auto tensor = program.values.find(name); tensor != program.values.end())
        value = typeJson(tensor->second);
    else if (const auto number = program.symbolicInts.find(name);
             number != program.symbolicInts.end())
        value["integer"] = extentJson(number->second);
    value["name"] = name;
    return value;
}

json symbolsJson(const graph::Program& program) {
    json symbols = json::object();
    for (const auto& [name, range] : program.symbols)
        symbols[name] = {{"low", range.low > std::numeric_limits<std::int64_t>::min()
                                     ? json(range.low)
                                     : json()},
                         {"high", range.high ? json(*range.high) : json()}};
    return symbols;
}

json relationsJson(const graph::Program& program) {
    json relations = json::array();
    for (const graph::ExtentRelation& relation : program.relations)
        relations.push_back({{"condition", textOf(relation)}, {"node", relation.node}});
    return relations;
}

std::string_view kindName(graph::Input::Kind kind) {
    using enum graph::Input::Kind;
    switch (kind) {
    case User:
        return "user";
    case Fixed:
        return "fixed";
    case Parameter:
        return "parameter";
    case Buffer:
        return "buffer";
    case Constant:
        return "constant";
    case Object:
        return "object";
    case Token:
        return "token";
    }
    return {};
}

std::string_view kindName(graph::Output::Kind kind) {
    using enum graph::Output::Kind;
    switch (kind) {
    case User:
        return "user";
    case BufferMutation:
        return "buffer-mutation";
    case ParameterMutation:
        return "parameter-mutation";
    case InputMutation:
        return "input-mutation";
    case Loss:
        return "loss";
    case Gradient:
        return "gradient";
    case Token:
        return "token";
    }
    return {};
}

/// An input or an output.
template <typename Place>
json placeJson(const graph::Program& program, const Place& place) {
    json value = valueJson(program, place.value);
    value["kind"] = kindName(place.kind);
    if (!place.target.empty())
        value["target"] = place.target;
    if (!std::holds_alternative<std::monostate>(place.fixed))
        value["fixed"] = textOf(place.fixed);
    return value;
}

json nodeJson(const graph::Program& program, const graph::Node& node) {
    json arguments = json::array();
    for (const graph::NamedArgument& argument : node.arguments)
        arguments.push_back({{"name", argument.name}, {"value", textOf(argument.value)}});
    json results = json::array();
    for (const auto& result : node.results)
        for (const std::string& name : result)
            results.push_back(name.empty() ? json() : valueJson(program, name));
    return {{"name", node.name},
            {"operator", node.target},
            {"arguments", arguments},
            {"results", results},
            {"module", node.module}};
}

json weightsJson(const graph::Program& program) {
    json tensors = json::array();
    for (const auto& [name, tensor] : program.tensors) {
        json weight = typeJson(tensor.type);
        weight["name"] = name;
        weight["has_data"] = tensor.owner != nullptr;
        tensors.push_back(std::move(weight));
    }
    return {{"bytes", weightBytes(program)}, {"tensors", tensors}};
}

} // namespace

nlohmann::json programJson(const graph::Program& program, const std::string& file) {
    json inputs = json::array();
    for (const graph::Input& input : program.inputs)
        inputs.push_back(placeJson(program, input));
    json outputs = json::array();
    for (const graph::Output& output : program.outputs)
        outputs.push_back(placeJson(program, output));
    json nodes = json::array();
    for (const graph::Node& node : program.nodes)
        nodes.push_back(nodeJson(program, node));
    json samples = json::array();
    for (const graph::TensorData& sample : program.sampleInputs)
        samples.push_back(typeJson(sample.type));
    json found = json::array();
    for (const graph::Limitation& limitation : limitations(program))
        found.push_back({{"kind", nameOf(limitation.kind)},
                         {"node", limitation.node},
                         {"operator", limitation.target},
                         {"module", limitation.module},
                         {"message", limitation.sentence}});
    return {{"file", file},
            {"torch", program.torchVersion},
            {"schema", fmt::format("{}.{}", program.schemaMajor, program.schemaMinor)},
            {"symbols", symbolsJson(program)},
            {"relations", relationsJson(program)},
            {"inputs", inputs},
            {"outputs", outputs},
            {"weights", weightsJson(program)},
            {"sample_inputs", samples},
            {"nodes", nodes},
            {"limitations", found}};
}

std::string valueText(const graph::Program& program, const std::string& name) {
    if (const auto tensor = program.values.find(name); tensor != program.values.end())
        return textOf(tensor->second);
    if (const auto number = program.symbolicInts.find(name); number != program.symbolicInts.end())
        return "int: " + textOf(number->second);
    return "other";
}

std::uint64_t weightBytes(const graph::Program& program) {
    std::uint64_t bytes = 0;
    for (const auto& [name, tensor] : program.tensors)
        bytes += static_cast<std::uint64_t>(elementCount(tensor.type).value_or(0)) *
                 sizeOf(tensor.type.element);
    return bytes;
}

} // namespace kernelskill::lsp
