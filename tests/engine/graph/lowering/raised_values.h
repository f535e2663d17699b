/// The memory that a raised program runs in, from tensors.
#pragma once

#include "engine/comparison/scalar_row.h"
#include "engine/graph/lowering/lowering.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/program.h"
#include "tests/analysis/raise/interpreter.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// The element at a byte, as a number.
inline double elementAt(const std::byte* at, ElementType type) {
    const auto kind = scalarKindOf(type);
    if (isFloating(kind))
        return floatingScalar(kind, at);
    // The bytes are little-endian; the missing ones are 0.
    std::int64_t value = 0;
    std::memcpy(&value, at, sizeOf(type));
    switch (type) {
    case ElementType::Int8:
        return static_cast<std::int8_t>(value);
    case ElementType::Int16:
        return static_cast<std::int16_t>(value);
    case ElementType::Int32:
        return static_cast<std::int32_t>(value);
    default:
        return static_cast<double>(value);
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

/// Fills the user's inputs from `inputs`, in their order, and the weights from the archive.
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
