#include "engine/graph/simplify/simplification.h"

#include <cstring>
#include <optional>
#include <span>

namespace kernelskill::engine::graph {

namespace {

template <typename T>
std::optional<double> numberAt(std::span<const std::byte> bytes) {
    T value{};
    if (bytes.size() < sizeof(T))
        return std::nullopt;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return static_cast<double>(value);
}

std::optional<double> onlyElement(const TensorData& tensor) {
    for (const Extent& size : tensor.type.sizes)
        if (size.isDynamic() || size.value != 1)
            return std::nullopt;
    const auto offset =
        static_cast<std::size_t>(tensor.type.offset.value) * sizeOf(tensor.type.element);
    if (tensor.type.offset.isDynamic() || offset > tensor.bytes.size())
        return std::nullopt;
    const auto bytes = tensor.bytes.subspan(offset);
    switch (tensor.type.element) {
    case ElementType::Float32:
        return numberAt<float>(bytes);
    case ElementType::Float64:
        return numberAt<double>(bytes);
    case ElementType::Int32:
        return numberAt<std::int32_t>(bytes);
    case ElementType::UInt8:
    case ElementType::Bool:
        return numberAt<std::uint8_t>(bytes);
    default: // Integers of 64 bits need not be doubles.
        return std::nullopt;
    }
}

} // namespace

std::map<std::string, double> heldConstants(const Program& graph) {
    std::map<std::string, double> constants;
    for (const Input& input : graph.inputs) {
        const auto held = graph.tensors.find(input.target);
        if (input.kind != Input::Kind::Constant || held == graph.tensors.end() ||
            held->second.owner == nullptr)
            continue;
        if (const auto value = onlyElement(held->second))
            constants.emplace(input.value, *value);
    }
    return constants;
}

} // namespace kernelskill::engine::graph
