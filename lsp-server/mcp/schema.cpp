#include "lsp-server/mcp/schema.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

bool hasType(const json& value, const std::string& type) {
    if (type == "string")
        return value.is_string();
    if (type == "boolean")
        return value.is_boolean();
    return type == "integer" && value.is_number_integer();
}

std::string misfitOfValue(const std::string& name, const json& schema, const json& value) {
    const std::string type = schema.at("type").get<std::string>();
    if (!hasType(value, type))
        return fmt::format("'{}' must be of type {}", name, type);
    if (schema.contains("enum") &&
        std::ranges::find(schema.at("enum"), value) == schema.at("enum").end())
        return fmt::format("'{}' must be one of {}", name, schema.at("enum").dump());
    if (schema.contains("minimum") &&
        (value < schema.at("minimum") || value > schema.at("maximum")))
        return fmt::format("'{}' must be from {} to {}", name, schema.at("minimum").dump(),
                           schema.at("maximum").dump());
    return {};
}

} // namespace

json plainSchema(std::string type) {
    json schema = json::object();
    schema["type"] = std::move(type);
    return schema;
}

json textSchema(std::string description) {
    return {{"type", "string"}, {"description", std::move(description)}};
}

json flagSchema(std::string description) {
    return {{"type", "boolean"}, {"description", std::move(description)}};
}

json numberSchema(std::string description, int least, int most) {
    return {{"type", "integer"},
            {"description", std::move(description)},
            {"minimum", least},
            {"maximum", most}};
}

json choiceSchema(std::string description, std::vector<std::string> words) {
    return {
        {"type", "string"}, {"description", std::move(description)}, {"enum", std::move(words)}};
}

json listSchema(json items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

json argumentsSchema(json properties, std::vector<std::string> required) {
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}};
}

json resultSchema(json properties) {
    std::vector<std::string> names;
    for (const auto& [name, schema] : properties.items())
        names.push_back(name);
    return {{"type", "object"}, {"properties", std::move(properties)}, {"required", names}};
}

std::string misfitOf(const json& schema, const json& arguments) {
    const json& properties = schema.at("properties");
    for (const auto& [name, value] : arguments.items()) {
        const auto property = properties.find(name);
        if (property == properties.end()) {
            std::vector<std::string> known;
            for (const auto& [each, ignored] : properties.items())
                known.push_back(each);
            return fmt::format("there is no argument '{}'; there are {}", name,
                               fmt::join(known, ", "));
        }
        if (std::string misfit = misfitOfValue(name, *property, value); !misfit.empty())
            return misfit;
    }
    for (const auto& name : schema.at("required"))
        if (!arguments.contains(name.get<std::string>()))
            return fmt::format("the argument '{}' is missing", name.get<std::string>());
    return {};
}

} // namespace kernelskill::lsp
