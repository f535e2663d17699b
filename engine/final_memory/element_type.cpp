#include "engine/final_memory/element_type.h"

#include "analysis/source/trimmed.h"
#include "engine/capture/kernel_symbol.h"

#include <algorithm>
#include <array>
#include <string>

namespace kernelskill::engine {
namespace {

/// "unsigned int" of "unsigned int const* const*": nothing, since it points to pointers.
std::string pointee(std::string_view pointer) {
    std::string_view text = analysis::trimmed(pointer);
    if (!text.ends_with('*'))
        return {};
    text = analysis::trimmed(text.substr(0, text.size() - 1));
    for (const std::string_view qualifier : {"const", "volatile"}) {
        const std::string after = " " + std::string(qualifier);
        if (text.ends_with(after))
            text = analysis::trimmed(text.substr(0, text.size() - after.size()));
    }
    return std::string(text);
}

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

/// Cuts the number of elements off a vector type's name: "float" of "float4".
std::string_view scalarOf(std::string_view name) {
    if (name.size() > 1 && name.back() >= '1' && name.back() <= '4')
        name.remove_suffix(1);
    return name;
}

bool isInteger(std::string_view name) {
    constexpr std::array<std::string_view, 6> vectors{"char",   "uchar", "short",
                                                      "ushort", "int",   "uint"};
    return isOneOf(name, {"bool", "char", "signed char", "unsigned char", "short", "unsigned short",
                          "int", "unsigned int", "long", "unsigned long", "long long",
                          "unsigned long long", "wchar_t", "char8_t", "char16_t", "char32_t"}) ||
           isOneOf(scalarOf(name), {"long", "ulong", "longlong", "ulonglong"}) ||
           std::ranges::find(vectors, scalarOf(name)) != vectors.end();
}

} // namespace

std::string_view spelling(ElementType type) {
    constexpr std::array<std::string_view, 6> names{"value",    "integer", "float16",
                                                    "bfloat16", "float32", "float64"};
    return names[static_cast<std::size_t>(type)];
}

std::size_t sizeOf(ElementType type) {
    constexpr std::array<std::size_t, 6> sizes{1, 1, 2, 2, 4, 8};
    return sizes[static_cast<std::size_t>(type)];
}

ElementType elementOf(std::string_view pointer) {
    const std::string name = pointee(pointer);
    if (scalarOf(name) == "float")
        return ElementType::Float32;
    if (scalarOf(name) == "double")
        return ElementType::Float64;
    if (isOneOf(name, {"__half", "__half2"}))
        return ElementType::Float16;
    if (isOneOf(name, {"__nv_bfloat16", "__nv_bfloat162"}))
        return ElementType::BFloat16;
    return isInteger(name) ? ElementType::Exact : ElementType::Unknown;
}

ElementType elementOf(const std::vector<BufferUse>& uses) {
    auto common = ElementType::Unknown;
    for (const BufferUse& use : uses) {
        const auto types = kernelSymbol(use.symbol).parameterTypes;
        const auto type =
            use.parameter < types.size() ? elementOf(types[use.parameter]) : ElementType::Unknown;
        if (type == ElementType::Unknown)
            continue;
        if (common != ElementType::Unknown && common != type)
            return ElementType::Unknown;
        common = type;
    }
    return common;
}

} // namespace kernelskill::engine
