#include "engine/graph/choice/model_code.h"

#include "engine/graph/type_text.h"
#include "engine/storage/content_hash.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::graph {

std::string codeOf(const ModelFiles& files) {
    ContentHash hash;
    for (const auto& [path, text] : files)
        if (path.ends_with(".cu") || path == "model.cpp") {
            hash.add(path);
            hash.add(text);
        }
    return hash.hex();
}

std::string callsOf(const Program& program) {
    std::string text;
    for (const Node& node : program.nodes) {
        text += node.target;
        for (const NamedArgument& argument : node.arguments)
            text += fmt::format(" {}={}", argument.name, textOf(argument.value));
        text += '\n';
    }
    for (const auto& [value, type] : program.values)
        text += value + " " + textOf(type) + "\n";
    return text;
}

std::string planningOf(const Program& part, const std::set<std::string>& libraryNodes) {
    std::string text = callsOf(part);
    for (const Input& input : part.inputs)
        text += fmt::format("{} {}\n", input.value, static_cast<int>(input.kind));
    for (const Output& output : part.outputs)
        text += "to " + output.value + "\n";
    for (const std::string& node : libraryNodes)
        text += "left " + node + "\n";
    return text;
}

std::string operationOf(const Program& program, const std::set<std::string>& nodes) {
    const auto node = std::ranges::find_if(
        program.nodes, [&](const Node& each) { return nodes.contains(each.name); });
    if (node == program.nodes.end())
        return "";
    std::string text;
    for (const NamedArgument& argument : node->arguments)
        for (const std::string& value : valuesIn(argument.value))
            if (const auto type = program.values.find(value); type != program.values.end())
                text += (text.empty() ? " of " : ", ") + textOf(type->second);
    text = node->target + text;
    if (nodes.size() > 1)
        text += fmt::format(" and {} more", nodes.size() - 1);
    return text;
}

} // namespace kernelskill::engine::graph
