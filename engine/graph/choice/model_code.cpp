#include "engine/graph/choice/model_code.h"

#include "engine/graph/type_text.h"
#include "engine/storage/content_hash.h"

#include <spdlog/fmt/fmt.h>

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

} // namespace kernelskill::engine::graph
