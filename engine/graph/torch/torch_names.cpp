#include "engine/graph/torch/torch_names.h"

#include <array>
#include <torch/version.h>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// The numbers of c10::ScalarType, which newer versions add to and never change.
constexpr std::array<std::pair<ElementType, int>, 18> scalarTypes{{
    {ElementType::UInt8, 0},
    {ElementType::Int8, 1},
    {ElementType::Int16, 2},
    {ElementType::Int32, 3},
    {ElementType::Int64, 4},
    {ElementType::Float16, 5},
    {ElementType::Float32, 6},
    {ElementType::Float64, 7},
    {ElementType::Complex32, 8},
    {ElementType::Complex64, 9},
    {ElementType::Complex128, 10},
    {ElementType::Bool, 11},
    {ElementType::BFloat16, 15},
    {ElementType::Float8E5M2, 23},
    {ElementType::Float8E4M3FN, 24},
    {ElementType::Float8E5M2FNUZ, 25},
    {ElementType::Float8E4M3FNUZ, 26},
    {ElementType::UInt16, 27},
}};

Error lacks(const std::string& what) {
    return {ErrorKind::Unsupported, "LibTorch " + torchVersion() + " lacks " + what, {}, {}};
}

/// Converts from the numbers of torch/_export/serde/schema.py.
Result<std::int64_t> layout(int value) {
    switch (value) {
    case 7:
        return static_cast<std::int64_t>(at::kStrided);
    case 1:
        return static_cast<std::int64_t>(at::kSparse);
    case 2:
        return static_cast<std::int64_t>(at::kSparseCsr);
    default:
        return std::unexpected(lacks("the layout number " + std::to_string(value)));
    }
}

Result<std::int64_t> memoryFormat(int value) {
    switch (value) {
    case 1:
        return static_cast<std::int64_t>(at::MemoryFormat::Contiguous);
    case 2:
        return static_cast<std::int64_t>(at::MemoryFormat::ChannelsLast);
    case 3:
        return static_cast<std::int64_t>(at::MemoryFormat::ChannelsLast3d);
    case 4:
        return static_cast<std::int64_t>(at::MemoryFormat::Preserve);
    default:
        return std::unexpected(lacks("the memory format number " + std::to_string(value)));
    }
}

} // namespace

std::string torchVersion() {
    return TORCH_VERSION;
}

Result<at::ScalarType> scalarType(ElementType type) {
    for (const auto& [known, number] : scalarTypes)
        if (known == type && number < static_cast<int>(at::ScalarType::NumOptions) &&
            static_cast<at::ScalarType>(number) != at::ScalarType::Undefined)
            return static_cast<at::ScalarType>(number);
    return std::unexpected(lacks("the element type " + std::string(nameOf(type))));
}

Result<ElementType> elementType(at::ScalarType type) {
    for (const auto& [known, number] : scalarTypes)
        if (number == static_cast<int>(type))
            return known;
    return std::unexpected(Error{ErrorKind::Unsupported,
                                 std::string("a tensor of ") + at::toString(type) + " is not read",
                                 {},
                                 {}});
}

Result<std::int64_t> torchNumber(const EnumValue& value) {
    switch (value.kind) {
    case EnumValue::Kind::ScalarType: {
        const auto type = scalarType(static_cast<ElementType>(value.value));
        if (!type)
            return std::unexpected(type.error());
        return static_cast<std::int64_t>(*type);
    }
    case EnumValue::Kind::Layout:
        return layout(value.value);
    case EnumValue::Kind::MemoryFormat:
        break;
    }
    return memoryFormat(value.value);
}

} // namespace kernelskill::engine::graph
