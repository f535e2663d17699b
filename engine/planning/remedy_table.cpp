#include "engine/planning/remedy_table.h"

#include "engine/diagnosis/code_shape.h"
#include "engine/diagnosis/rule_table.h"

#include <spdlog/fmt/fmt.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

namespace {

Error wrong(const YAML::Mark& mark, std::string what) {
    return Error{ErrorKind::InvalidInput, std::move(what),
                 fmt::format("remedies.yaml:{}", mark.line + 1), ""};
}

Result<RemedyAnswer> answerOf(const YAML::Node& node) {
    RemedyAnswer answer;
    const auto kind = bottleneckSpelled(node["bottleneck"].as<std::string>());
    if (!kind)
        return std::unexpected(wrong(node["bottleneck"].Mark(), "unknown bottleneck kind"));
    answer.bottleneck = *kind;
    const auto known = shapeNames();
    for (const YAML::Node& shape : node["shapes"]) {
        answer.shapes.push_back(shape.as<std::string>());
        if (std::ranges::find(known, answer.shapes.back()) == known.end())
            return std::unexpected(wrong(shape.Mark(), "unknown shape " + answer.shapes.back()));
    }
    for (const YAML::Node& method : node["methods"])
        answer.methods.push_back(method.as<std::string>());
    if (answer.methods.empty())
        return std::unexpected(wrong(node.Mark(), "there must be methods"));
    answer.isQuiet = node["quiet"] && node["quiet"].as<bool>();
    answer.source = node["source"].as<std::string>();
    return answer;
}

} // namespace

std::optional<std::size_t> RemedyAnswer::placeOf(std::string_view method) const {
    const auto found = std::ranges::find(methods, method);
    return found == methods.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - methods.begin()));
}

const RemedyAnswer* RemedyTable::answerTo(const Bottleneck& bottleneck) const {
    const auto found = std::ranges::find_if(answers, [&](const RemedyAnswer& answer) {
        return answer.bottleneck == bottleneck.kind &&
               std::ranges::all_of(answer.shapes, [&](const std::string& shape) {
                   return std::ranges::find(bottleneck.shapes, shape) != bottleneck.shapes.end();
               });
    });
    return found == answers.end() ? nullptr : &*found;
}

const RemedyMethod* RemedyTable::method(std::string_view id) const {
    const auto found = std::ranges::find(methods, id, &RemedyMethod::id);
    return found == methods.end() ? nullptr : &*found;
}

Result<RemedyTable> parseRemedyTable(std::string_view yaml) {
    try {
        const YAML::Node root = YAML::Load(std::string(yaml));
        RemedyTable table;
        for (const YAML::Node& node : root["answers"]) {
            auto answer = answerOf(node);
            if (!answer)
                return std::unexpected(answer.error());
            table.answers.push_back(std::move(*answer));
        }
        for (const YAML::Node& node : root["certain"])
            table.certain.push_back(node.as<std::string>());
        for (const YAML::Node& node : root["methods"])
            table.methods.push_back({node["id"].as<std::string>(), node["text"].as<std::string>(),
                                     node["why"].as<std::string>()});
        return table;
    } catch (const YAML::Exception& error) {
        return std::unexpected(wrong(error.mark, error.msg));
    }
}

const Result<RemedyTable>& builtinRemedies() {
    static const Result<RemedyTable> table = parseRemedyTable(builtinRemedyText());
    return table;
}

} // namespace kernelskill::engine
