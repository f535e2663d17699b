#include "engine/graph/json_text.h"

#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"
#include "analysis/source/json_reading.h"
#include "analysis/source/try.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <limits>

namespace kernelskill::engine::graph {

using nlohmann::json;

namespace {

constexpr std::size_t maxJsonValues = 4'000'000;
/// The depth of graph_module.graph.nodes[i].metadata; the names of values are less deep.
constexpr int metadataDepth = 6;
constexpr std::array droppedMembers = {"from_node", "stack_trace", "torch_fn"};

Result<const json*> required(const json& object, const char* name, const char* kind, bool isOfKind,
                             const json* found, const std::string& where) {
    if (found == nullptr)
        return malformed(object.is_object() ? fmt::format("'{}' is missing", name)
                                            : fmt::format("the object with '{}' is none", name),
                         where);
    if (!isOfKind)
        return malformed(fmt::format("'{}' is no {}", name, kind), where);
    return found;
}

} // namespace

std::unexpected<Error> malformed(std::string what, const std::string& where) {
    return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), where,
                                 "export the program again with torch 2.6 to 2.11"});
}

Result<json> parseJson(std::string_view text, const std::string& where) {
    if (analysis::isNestedTooDeeply(text))
        return malformed("the JSON is nested too deeply", where);
    std::size_t values = 0;
    const auto keeps = [&](int depth, json::parse_event_t event, const json& parsed) {
        if (event == json::parse_event_t::key)
            return depth < metadataDepth ||
                   std::ranges::none_of(
                       droppedMembers, [&](const char* name) { return parsed == name; });
        // Values beyond the limit are dropped, so that they take no memory.
        return ++values <= maxJsonValues;
    };
    json parsed = json::parse(text, keeps, false);
    if (values > maxJsonValues)
        return malformed(fmt::format("the JSON has more than {} values", maxJsonValues), where);
    if (parsed.is_discarded())
        return malformed("the text is no JSON", where);
    return parsed;
}

const json* member(const json& object, const char* name) {
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<const json*> requiredObject(const json& object, const char* name, const std::string& where) {
    const json* const found = member(object, name);
    return required(object, name, "object", found != nullptr && found->is_object(), found, where);
}

Result<const json*> requiredArray(const json& object, const char* name, const std::string& where) {
    const json* const found = member(object, name);
    return required(object, name, "array", found != nullptr && found->is_array(), found, where);
}

Result<std::string> requiredText(const json& object, const char* name, const std::string& where) {
    const json* const found = member(object, name);
    KERNELSKILL_CHECK(
        required(object, name, "string", found != nullptr && found->is_string(), found, where));
    return found->get<std::string>();
}

Result<std::int64_t> requiredInteger(const json& object, const char* name,
                                     const std::string& where) {
    const json* const found = member(object, name);
    KERNELSKILL_CHECK(required(object, name, "integer",
                               found != nullptr && found->is_number_integer(), found, where));
    return integerOf(*found, where);
}

Result<std::int64_t> integerOf(const json& value, const std::string& where) {
    if (!value.is_number_integer())
        return malformed("an integer is expected", where);
    if (const auto integer = analysis::integerIn<std::int64_t>(value))
        return *integer;
    return malformed("an integer has more than 63 bits", where);
}

Result<double> numberOf(const json& value, const std::string& where) {
    if (value.is_number())
        return value.get<double>();
    if (value == "Infinity")
        return std::numeric_limits<double>::infinity();
    if (value == "-Infinity")
        return -std::numeric_limits<double>::infinity();
    if (value == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    return malformed("a number is expected", where);
}

Result<std::string> textOf(const json& value, const std::string& where) {
    if (!value.is_string())
        return malformed("a string is expected", where);
    return value.get<std::string>();
}

Result<UnionMember> unionOf(const json& value, const std::string& where) {
    if (!value.is_object() || value.size() != 1)
        return malformed("an object with one member is expected", where);
    return UnionMember{value.begin().key(), &*value.begin()};
}

} // namespace kernelskill::engine::graph
