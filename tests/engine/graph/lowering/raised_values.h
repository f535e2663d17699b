/// The memory that a raised program runs in, from tensors.
#pragma once

#include "analysis/raise/interpreter.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/program.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// The element at a byte, as a number.
inline double elementAt(const std::byte* at, ElementType type) {
    const auto as = [&]<typename T>(T value) {
        std::memcpy(&value, at, sizeof(T));
        return value;
    };
    switch (type) {
    case ElementType::Float32:
        return as(float{});
    case ElementType::Float64:
        return as(double{});
    case ElementType::BFloat16:
        return std::bit_cast<float>(static_cast<std::uint32_t>(as(std::uint16_t{})) << 16);
    case ElementType::Int64:
        return static_cast<double>(as(std::int64_t{}));
    case ElementType::Int32:
        return as(std::int32_t{});
    default: // Bool and bytes
        return as(std::uint8_t{});
    }
}

/// The elements in row-major order, by the tensor's strides.
inline std::vector<double> elementsOf(const TensorData& tensor) {
    std::vector<std::int64_t> sizes;
    std::int64_t count = 1;
    for (const Extent& extent : tensor.type.sizes) {
        sizes.push_back(extent.value);
        count *= extent.value;
    }
    std::vector<double> elements;
    const std::size_t bytes = sizeOf(tensor.type.element);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t place = tensor.type.offset.value;
        std::int64_t left = i;
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
            place += left % sizes[axis] * tensor.type.strides[axis].value;
            left /= sizes[axis];
        }
        elements.push_back(elementAt(tensor.bytes.data() + static_cast<std::size_t>(place) * bytes,
                                     tensor.type.element));
    }
    return elements;
}

/// With `inputs` for the user's inputs that are tensors, in their order, and the archive's weights.
inline analysis::raise::Memory memoryOf(const Program& graph, const Raised& raised,
                                        const std::vector<TensorData>& inputs) {
    analysis::raise::Memory memory(raised.program.buffers.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        if (!raised.inputs[i])
            continue;
        const Input& input = graph.inputs[i];
        memory[*raised.inputs[i]] = input.kind == Input::Kind::User
                                        ? elementsOf(inputs.at(next++))
                                        : elementsOf(graph.tensors.at(input.target));
    }
    return memory;
}

} // namespace kernelskill::engine::graph::testing
