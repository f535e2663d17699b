#include "engine/graph/reference/seeded_tensors.h"

#include "engine/execution/buffer_fill.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/graph/tensor_extents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

/// A parameter of an operator that is given a value of the graph.
struct Reader {
    const Node* node = nullptr;
    std::string_view parameter;
};

const ValueName* asValue(const Argument& argument) {
    return std::get_if<ValueName>(&argument);
}

/// Finds the node that reads the value first; none if a list of tensors does, or nothing.
Reader firstReader(const Program& program, const std::string& value) {
    for (const Node& node : program.nodes)
        for (const NamedArgument& argument : node.arguments)
            if (const ValueName* name = asValue(argument.value); name && name->name == value)
                return {&node, argument.name};
    return {};
}

const TensorType* typeOfArgument(const Program& program, const Node& node,
                                 std::string_view parameter) {
    for (const NamedArgument& argument : node.arguments) {
        const ValueName* name = asValue(argument.value);
        if (name == nullptr || argument.name != parameter)
            continue;
        const auto found = program.values.find(name->name);
        return found == program.values.end() ? nullptr : &found->second;
    }
    return nullptr;
}

struct ReaderRule {
    std::string_view operatorName; ///< Any overload of it.
    std::string_view parameter;
};

bool applies(const ReaderRule& rule, const Reader& reader) {
    return reader.node != nullptr && reader.parameter == rule.parameter &&
           reader.node->target.starts_with(rule.operatorName) &&
           reader.node->target.substr(rule.operatorName.size()).starts_with('.');
}

template <std::size_t count>
bool anyApplies(const std::array<ReaderRule, count>& rules, const Reader& reader) {
    return std::ranges::any_of(rules,
                               [&](const ReaderRule& rule) { return applies(rule, reader); });
}

constexpr std::array scales{
    ReaderRule{"aten._native_batch_norm_legit_no_training", "weight"},
    ReaderRule{"aten._native_batch_norm_legit_no_training", "running_var"},
    ReaderRule{"aten.batch_norm", "weight"},
    ReaderRule{"aten.batch_norm", "running_var"},
    ReaderRule{"aten.instance_norm", "weight"},
    ReaderRule{"aten.instance_norm", "running_var"},
    ReaderRule{"aten.group_norm", "weight"},
    ReaderRule{"aten.layer_norm", "weight"},
    ReaderRule{"aten.rms_norm", "weight"},
};

constexpr std::array notNegative{
    ReaderRule{"aten.log", "self"},      ReaderRule{"aten.log2", "self"},
    ReaderRule{"aten.log10", "self"},    ReaderRule{"aten.log1p", "self"},
    ReaderRule{"aten.sqrt", "self"},     ReaderRule{"aten.rsqrt", "self"},
    ReaderRule{"aten.kl_div", "target"}, ReaderRule{"aten.binary_cross_entropy", "self"},
};

/// An integer argument that counts along a dimension of another argument.
struct IndexRule {
    ReaderRule reader;
    std::string_view counted;
    std::size_t dimension;
};

constexpr std::array indices{
    IndexRule{{"aten.cross_entropy_loss", "target"}, "self", 1},
    IndexRule{{"aten.nll_loss_nd", "target"}, "self", 1},
    IndexRule{{"aten.nll_loss", "target"}, "self", 1},
    IndexRule{{"aten.embedding", "indices"}, "weight", 0},
};

/// Integers are below it.
std::int64_t integerBound(const Program& program, const Reader& reader) {
    constexpr std::int64_t coin = 2;
    for (const IndexRule& rule : indices) {
        if (!applies(rule.reader, reader))
            continue;
        const TensorType* counted = typeOfArgument(program, *reader.node, rule.counted);
        if (counted != nullptr && !counted->sizes.empty())
            return std::max<std::int64_t>(
                counted->sizes[std::min(rule.dimension, counted->sizes.size() - 1)].value, 1);
    }
    return coin;
}

/// How the elements are stored. A complex number is two floating-point ones.
struct ElementStorage {
    analysis::ScalarKind kind;
    bool isFloating = false;
};

std::optional<ElementStorage> storageOf(ElementType type) {
    using analysis::ScalarKind;
    switch (type) {
    case ElementType::Bool:
        return ElementStorage{ScalarKind::Bool};
    case ElementType::UInt8:
    case ElementType::Int8:
        return ElementStorage{ScalarKind::UInt8};
    case ElementType::Int16:
    case ElementType::UInt16:
        return ElementStorage{ScalarKind::Int16};
    case ElementType::Int32:
        return ElementStorage{ScalarKind::Int32};
    case ElementType::Int64:
        return ElementStorage{ScalarKind::Int64};
    case ElementType::Float16:
        return ElementStorage{ScalarKind::Half, true};
    case ElementType::BFloat16:
        return ElementStorage{ScalarKind::BFloat16, true};
    case ElementType::Float32:
        return ElementStorage{ScalarKind::Float, true};
    case ElementType::Float64:
        return ElementStorage{ScalarKind::Double, true};
    case ElementType::Complex64:
        return ElementStorage{ScalarKind::Float, true};
    case ElementType::Complex128:
        return ElementStorage{ScalarKind::Double, true};
    default:
        return std::nullopt;
    }
}

template <typename T, typename Value>
void eachElement(std::span<std::byte> bytes, Value newValue) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        T element;
        std::memcpy(&element, bytes.data() + at, sizeof element);
        element = newValue(element);
        std::memcpy(bytes.data() + at, &element, sizeof element);
    }
}

void stretch(std::span<std::byte> bytes, analysis::ScalarKind kind, const ElementRange& by) {
    if (by.scale == 1 && by.shift == 0)
        return;
    const auto stretched = [&](auto value) {
        using T = decltype(value);
        return static_cast<T>(value * static_cast<T>(by.scale) + static_cast<T>(by.shift));
    };
    switch (kind) {
    case analysis::ScalarKind::Double:
        return eachElement<double>(bytes, stretched);
    case analysis::ScalarKind::Half:
        return eachElement<_Float16>(bytes, stretched);
    case analysis::ScalarKind::BFloat16: // The upper half of a float.
        return eachElement<std::uint16_t>(bytes, [&](std::uint16_t bits) {
            const float value = stretched(std::bit_cast<float>(std::uint32_t{bits} << 16));
            return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
        });
    default:
        return eachElement<float>(bytes, stretched);
    }
}

std::unexpected<Error> unusable(const Input& input, const std::string& what) {
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 "the input " + input.value + " " + what,
                                 {},
                                 "give the tensor itself"});
}

/// The type that the archive holds, else that of the value; null for what is no tensor.
const TensorType* typeOf(const Program& program, const Input& input) {
    const auto held = program.tensors.find(input.target);
    if (held != program.tensors.end())
        return &held->second.type;
    const auto value = program.values.find(input.value);
    return value == program.values.end() ? nullptr : &value->second;
}

} // namespace

ElementRange elementRange(const Program& program, const Input& input) {
    const Reader reader = firstReader(program, input.value);
    ElementRange range;
    range.integerBound = integerBound(program, reader);
    const TensorType* type = typeOf(program, input);
    if (anyApplies(scales, reader)) {
        range.scale = 0.5f;
        range.shift = 1.0f;
    } else if (anyApplies(notNegative, reader)) {
        range.scale = 0.5f;
        range.shift = 0.5f;
    } else if (input.kind == Input::Kind::Parameter && type != nullptr && type->sizes.size() >= 2) {
        double inputsOfOutput = 1;
        for (std::size_t i = 1; i < type->sizes.size(); ++i)
            inputsOfOutput *= static_cast<double>(std::max<std::int64_t>(type->sizes[i].value, 1));
        range.scale = static_cast<float>(1.0 / std::sqrt(inputsOfOutput));
    }
    return range;
}

Result<TensorData> seededTensor(const Program& program, const Input& input, std::uint64_t seed) {
    const TensorType* found = typeOf(program, input);
    if (found == nullptr)
        return unusable(input, "is no tensor");
    const TensorType& type = *found;
    const auto elements = elementCount(type);
    if (!elements)
        return unusable(input, "has more elements than can be addressed");
    const auto storage = storageOf(type.element);
    if (!storage)
        return unusable(input, "has elements of " + std::string(nameOf(type.element)) +
                                   ", which are not made up");
    const ElementRange range = elementRange(program, input);
    BufferSpec buffer;
    buffer.element = storage->kind;
    buffer.fill = Fill::Random;
    if (!storage->isFloating)
        buffer.integerRange = range.integerBound;
    std::vector<std::byte> bytes(static_cast<std::uint64_t>(*elements) * sizeOf(type.element));
    fillBuffer(buffer, bufferSeed(seed, input.value), 0, bytes);
    if (storage->isFloating)
        stretch(bytes, storage->kind, range);
    return owningTensor(contiguousType(type.element, valuesOf(type.sizes)), std::move(bytes));
}

} // namespace kernelskill::engine::graph
