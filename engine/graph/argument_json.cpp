#include "engine/graph/argument_json.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/graph/tensor_json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kernelskill::engine::graph {

using nlohmann::json;

namespace {

/// Reads each element of an array by `read`.
template <typename Read>
auto listOf(const json& value, const std::string& where, const Read& read)
    -> Result<std::vector<typename std::invoke_result_t<Read, const json&>::value_type>> {
    if (!value.is_array())
        return malformed("a list is expected", where);
    std::vector<typename std::invoke_result_t<Read, const json&>::value_type> elements;
    elements.reserve(value.size());
    for (const json& element : value) {
        KERNELSKILL_TRY(auto read_, read(element));
        elements.push_back(std::move(read_));
    }
    return elements;
}

Result<bool> truthOf(const json& value, const std::string& where) {
    if (!value.is_boolean())
        return malformed("a truth value is expected", where);
    return value.get<bool>();
}

/// {"name": "x"}
Result<ValueName> valueNameOf(const json& value, const std::string& where) {
    KERNELSKILL_TRY(std::string name, requiredText(value, "name", where));
    return ValueName{std::move(name)};
}

/// {"as_tensor": {"name": "x"}} or {"as_none": true}
Result<std::optional<ValueName>> optionalNameOf(const json& value, const std::string& where) {
    KERNELSKILL_TRY(const UnionMember one, unionOf(value, where));
    if (one.kind == "as_none")
        return std::optional<ValueName>();
    if (one.kind != "as_tensor")
        return malformed(fmt::format("an optional tensor is '{}'", one.kind), where);
    KERNELSKILL_TRY(ValueName name, valueNameOf(*one.value, where));
    return std::optional(std::move(name));
}

/// {"as_name": "x"} or {"as_int": 3}
Result<SymbolicInt> symbolicIntOf(const json& value, const std::string& where) {
    KERNELSKILL_TRY(const UnionMember one, unionOf(value, where));
    if (one.kind == "as_int") {
        KERNELSKILL_TRY(const std::int64_t number, integerOf(*one.value, where));
        return SymbolicInt(number);
    }
    if (one.kind != "as_name")
        return malformed(fmt::format("a symbolic integer is '{}'", one.kind), where);
    KERNELSKILL_TRY(std::string name, textOf(*one.value, where));
    return SymbolicInt(ValueName{std::move(name)});
}

/// A symbolic float or truth: its name if it has one, else the constant.
Result<Argument> symbolicOf(const json& value, const std::string& where) {
    KERNELSKILL_TRY(const UnionMember one, unionOf(value, where));
    if (one.kind == "as_name") {
        KERNELSKILL_TRY(std::string name, textOf(*one.value, where));
        return Argument(ValueName{std::move(name)});
    }
    return readArgument(value, where);
}

/// Adds the names in `value`, which is a thing with a name or a list of such things.
void collectNames(const json& value, std::vector<std::string>& names) {
    if (value.is_array()) {
        for (const json& element : value)
            collectNames(element, names);
        return;
    }
    if (!value.is_object())
        return;
    for (const char* key : {"name", "as_name"})
        if (const json* const name = member(value, key); name != nullptr && name->is_string())
            names.push_back(name->get<std::string>());
    // Unions within: {"as_tensor": {"name": "x"}}, and the values of a dictionary of arguments.
    for (const json& element : value)
        if (element.is_structured())
            collectNames(element, names);
}

Result<Argument> otherArgument(const UnionMember& argument, const std::string& where) {
    constexpr std::array known = {"as_graph",          "as_custom_obj", "as_operator",
                                  "as_complex",        "as_sym_bools",  "as_sym_floats",
                                  "as_nested_tensors", "as_int_lists",  "as_string_to_argument"};
    if (std::ranges::find(known, std::string_view(argument.kind)) == known.end())
        return malformed(fmt::format("an argument is '{}', which is not known", argument.kind),
                         where);
    OtherArgument other{argument.kind, {}, {}};
    if (argument.value->is_string())
        other.name = argument.value->get<std::string>();
    else if (const json* const name = member(*argument.value, "name"); name && name->is_string())
        other.name = name->get<std::string>();
    // Names within a subgraph are its own.
    if (argument.kind != "as_graph")
        collectNames(*argument.value, other.reads);
    return Argument(std::move(other));
}

Result<Argument> enumOf(const UnionMember& argument, const std::string& where) {
    using enum EnumValue::Kind;
    if (argument.kind == "as_scalar_type") {
        KERNELSKILL_TRY(const ElementType type, readElementType(*argument.value, where));
        return Argument(EnumValue{ScalarType, static_cast<int>(type)});
    }
    KERNELSKILL_TRY(const std::int64_t number, integerOf(*argument.value, where));
    const bool isLayout = argument.kind == "as_layout";
    const std::int64_t last = isLayout ? 7 : 4;
    if (number < 0 || number > last)
        return malformed(
            fmt::format("the {} {} is not known", isLayout ? "layout" : "memory format", number),
            where);
    return Argument(EnumValue{isLayout ? Layout : MemoryFormat, static_cast<int>(number)});
}

Result<Argument> deviceOf(const json& value, const std::string& where) {
    Device device;
    KERNELSKILL_TRY(device.type, requiredText(value, "type", where));
    if (const json* const index = member(value, "index")) {
        KERNELSKILL_TRY(const std::int64_t number, integerOf(*index, where));
        if (number < -1 || number > std::numeric_limits<int>::max())
            return malformed(fmt::format("the device {} is not known", number), where);
        device.index = static_cast<int>(number);
    }
    return Argument(std::move(device));
}

/// Returns the value as an Argument if it can be read.
template <typename T>
Result<Argument> argumentOf(Result<T> value) {
    if (!value)
        return std::unexpected(std::move(value).error());
    return Argument(std::in_place_type<T>, *std::move(value));
}

} // namespace

Result<Argument> readArgument(const json& value, const std::string& where) {
    KERNELSKILL_TRY(const UnionMember argument, unionOf(value, where));
    const std::string& kind = argument.kind;
    const json& given = *argument.value;
    const auto integer = [&](const json& element) { return integerOf(element, where); };
    const auto number = [&](const json& element) { return numberOf(element, where); };
    const auto truth = [&](const json& element) { return truthOf(element, where); };
    const auto text = [&](const json& element) { return textOf(element, where); };
    const auto name = [&](const json& element) { return valueNameOf(element, where); };
    const auto optionalName = [&](const json& element) { return optionalNameOf(element, where); };
    const auto symbolicInt = [&](const json& element) { return symbolicIntOf(element, where); };
    if (kind == "as_none")
        return Argument(std::monostate());
    if (kind == "as_tensor")
        return argumentOf(name(given));
    if (kind == "as_tensors")
        return argumentOf(listOf(given, where, name));
    if (kind == "as_int")
        return argumentOf(integer(given));
    if (kind == "as_ints")
        return argumentOf(listOf(given, where, integer));
    if (kind == "as_float")
        return argumentOf(number(given));
    if (kind == "as_floats")
        return argumentOf(listOf(given, where, number));
    if (kind == "as_bool")
        return argumentOf(truth(given));
    if (kind == "as_bools")
        return argumentOf(listOf(given, where, truth));
    if (kind == "as_string")
        return argumentOf(text(given));
    if (kind == "as_strings")
        return argumentOf(listOf(given, where, text));
    if (kind == "as_sym_int") {
        KERNELSKILL_TRY(SymbolicInt one, symbolicInt(given));
        const auto* constant = std::get_if<std::int64_t>(&one);
        return constant != nullptr ? Argument(*constant) : Argument(std::move(one));
    }
    if (kind == "as_sym_ints")
        return argumentOf(listOf(given, where, symbolicInt));
    if (kind == "as_sym_bool" || kind == "as_sym_float")
        return symbolicOf(given, where);
    if (kind == "as_optional_tensors")
        return argumentOf(listOf(given, where, optionalName));
    if (kind == "as_optional_tensor") {
        KERNELSKILL_TRY(std::optional<ValueName> one, optionalName(given));
        return one ? Argument(*std::move(one)) : Argument(std::monostate());
    }
    if (kind == "as_scalar_type" || kind == "as_memory_format" || kind == "as_layout")
        return enumOf(argument, where);
    if (kind == "as_device")
        return deviceOf(given, where);
    return otherArgument(argument, where);
}

} // namespace kernelskill::engine::graph
