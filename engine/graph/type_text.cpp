#include "engine/graph/type_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kernelskill::engine::graph {
namespace {

std::string textOf(const ValueName& value) {
    return value.name;
}
std::string textOf(const std::optional<ValueName>& value) {
    return value ? value->name : "None";
}
std::string textOf(std::int64_t value) {
    return std::to_string(value);
}
std::string textOf(double value) {
    return fmt::format("{}", value);
}
std::string textOf(bool value) {
    return value ? "True" : "False";
}
std::string textOf(const std::string& value) {
    return "'" + value + "'";
}
std::string textOf(const SymbolicInt& value) {
    const auto* const name = std::get_if<ValueName>(&value);
    return name != nullptr ? name->name : std::to_string(std::get<std::int64_t>(value));
}
std::string textOf(std::monostate /*none*/) {
    return "None";
}
std::string textOf(const Device& device) {
    return device.index ? fmt::format("{}:{}", device.type, *device.index) : device.type;
}
std::string textOf(const EnumValue& value) {
    constexpr std::array<std::string_view, 8> layouts = {"unknown",    "sparse_coo", "sparse_csr",
                                                         "sparse_csc", "sparse_bsr", "sparse_bsc",
                                                         "_mkldnn",    "strided"};
    constexpr std::array<std::string_view, 5> formats = {
        "unknown", "contiguous_format", "channels_last", "channels_last_3d", "preserve_format"};
    const auto index = static_cast<std::size_t>(value.value);
    switch (value.kind) {
    case EnumValue::Kind::ScalarType:
        return std::string(nameOf(static_cast<ElementType>(value.value)));
    case EnumValue::Kind::Layout:
        return std::string(layouts.at(index));
    case EnumValue::Kind::MemoryFormat:
        return std::string(formats.at(index));
    }
    return {};
}
std::string textOf(const OtherArgument& other) {
    constexpr std::string_view prefix = "as_";
    std::string text(other.kind.starts_with(prefix) ? other.kind.substr(prefix.size())
                                                    : other.kind);
    if (!other.name.empty())
        text += " " + other.name;
    return text;
}

template <typename T>
std::string textOf(const std::vector<T>& values) {
    std::string text = "[";
    for (std::size_t i = 0; i < values.size(); ++i)
        text += (i > 0 ? ", " : "") + textOf(static_cast<T>(values[i]));
    return text + "]";
}

} // namespace

std::string textOf(const Extent& extent) {
    return extent.isDynamic() ? extent.expression : std::to_string(extent.value);
}

std::string textOf(const TensorType& type) {
    std::string text = fmt::format("{}[", nameOf(type.element));
    for (std::size_t i = 0; i < type.sizes.size(); ++i)
        text += (i > 0 ? ", " : "") + textOf(type.sizes[i]);
    return text + "]";
}

std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '?');
    return text;
}

std::string textOf(const Argument& argument) {
    return std::visit([](const auto& value) { return textOf(value); }, argument);
}

} // namespace kernelskill::engine::graph
