#include "engine/graph/program.h"

#include <algorithm>

namespace kernelskill::engine::graph {

std::size_t sizeOf(ElementType type) {
    switch (type) {
    case ElementType::UInt8:
    case ElementType::Int8:
    case ElementType::Bool:
    case ElementType::Float8E4M3FN:
    case ElementType::Float8E5M2:
    case ElementType::Float8E4M3FNUZ:
    case ElementType::Float8E5M2FNUZ:
        return 1;
    case ElementType::Int16:
    case ElementType::UInt16:
    case ElementType::Float16:
    case ElementType::BFloat16:
        return 2;
    case ElementType::Int32:
    case ElementType::Float32:
    case ElementType::Complex32:
        return 4;
    case ElementType::Int64:
    case ElementType::Float64:
    case ElementType::Complex64:
        return 8;
    case ElementType::Complex128:
        return 16;
    }
    return 0;
}

std::string_view nameOf(ElementType type) {
    switch (type) {
    case ElementType::UInt8:
        return "uint8";
    case ElementType::Int8:
        return "int8";
    case ElementType::Int16:
        return "int16";
    case ElementType::Int32:
        return "int32";
    case ElementType::Int64:
        return "int64";
    case ElementType::Float16:
        return "float16";
    case ElementType::Float32:
        return "float32";
    case ElementType::Float64:
        return "float64";
    case ElementType::Complex32:
        return "complex32";
    case ElementType::Complex64:
        return "complex64";
    case ElementType::Complex128:
        return "complex128";
    case ElementType::Bool:
        return "bool";
    case ElementType::BFloat16:
        return "bfloat16";
    case ElementType::UInt16:
        return "uint16";
    case ElementType::Float8E4M3FN:
        return "float8_e4m3fn";
    case ElementType::Float8E5M2:
        return "float8_e5m2";
    case ElementType::Float8E4M3FNUZ:
        return "float8_e4m3fnuz";
    case ElementType::Float8E5M2FNUZ:
        return "float8_e5m2fnuz";
    }
    return "unknown";
}

std::vector<std::string> valuesIn(const Argument& argument) {
    std::vector<std::string> names;
    const auto add = [&](const ValueName& value) { names.push_back(value.name); };
    const auto addSymbolic = [&](const SymbolicInt& value) {
        if (const auto* name = std::get_if<ValueName>(&value))
            add(*name);
    };
    if (const auto* name = std::get_if<ValueName>(&argument))
        add(*name);
    else if (const auto* list = std::get_if<std::vector<ValueName>>(&argument))
        std::ranges::for_each(*list, add);
    else if (const auto* some = std::get_if<std::vector<std::optional<ValueName>>>(&argument)) {
        for (const std::optional<ValueName>& value : *some)
            if (value)
                add(*value);
    } else if (const auto* symbolic = std::get_if<SymbolicInt>(&argument))
        addSymbolic(*symbolic);
    else if (const auto* symbolics = std::get_if<std::vector<SymbolicInt>>(&argument))
        std::ranges::for_each(*symbolics, addSymbolic);
    else if (const auto* other = std::get_if<OtherArgument>(&argument))
        names = other->reads;
    return names;
}

} // namespace kernelskill::engine::graph
