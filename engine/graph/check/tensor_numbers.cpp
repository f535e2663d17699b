#include "engine/graph/check/tensor_numbers.h"

#include "analysis/syntax/scalar_bytes.h"
#include "engine/comparison/scalar_row.h"
#include "engine/graph/lowering/lowering.h"

#include <cstdint>
#include <cstring>

namespace kernelskill::engine::graph {
namespace {

template <typename Integer>
double integerAt(const std::byte* from) {
    Integer value = 0;
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
}

double numberAt(analysis::ScalarKind kind, const std::byte* from) {
    using analysis::ScalarKind;
    switch (kind) {
    case ScalarKind::Bool:
    case ScalarKind::UInt8:
        return integerAt<std::uint8_t>(from);
    case ScalarKind::Char:
        return integerAt<std::int8_t>(from);
    case ScalarKind::Int16:
        return integerAt<std::int16_t>(from);
    case ScalarKind::Int32:
        return integerAt<std::int32_t>(from);
    case ScalarKind::Int64:
        return integerAt<std::int64_t>(from);
    case ScalarKind::UInt16:
        return integerAt<std::uint16_t>(from);
    case ScalarKind::UInt32:
        return integerAt<std::uint32_t>(from);
    case ScalarKind::UInt64:
        return integerAt<std::uint64_t>(from);
    default:
        return floatingScalar(kind, from);
    }
}

} // namespace

std::vector<double> numbersIn(analysis::ScalarKind kind, std::span<const std::byte> bytes) {
    std::vector<double> numbers;
    const std::size_t step = analysis::scalarBytes(kind);
    for (std::size_t at = 0; step > 0 && at + step <= bytes.size(); at += step)
        numbers.push_back(numberAt(kind, bytes.data() + at));
    return numbers;
}

std::vector<double> numbersIn(const TensorData& tensor) {
    return numbersIn(scalarKindOf(tensor.type.element), contiguousBytes(tensor));
}

std::vector<std::byte> contiguousBytes(const TensorData& tensor) {
    std::int64_t count = 1;
    for (const Extent& extent : tensor.type.sizes)
        count *= extent.value;
    const std::size_t size = sizeOf(tensor.type.element);
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(count) * size);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t place = tensor.type.offset.value;
        std::int64_t left = i;
        for (std::size_t axis = tensor.type.sizes.size(); axis-- > 0;) {
            const std::int64_t extent = tensor.type.sizes[axis].value;
            place += left % extent * tensor.type.strides[axis].value;
            left /= extent;
        }
        const auto* const from = tensor.bytes.data() + static_cast<std::size_t>(place) * size;
        bytes.insert(bytes.end(), from, from + size);
    }
    return bytes;
}

} // namespace kernelskill::engine::graph
