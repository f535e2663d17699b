/// Tensors that own their bytes, and the order of elements in them.
#pragma once

#include "engine/graph/program.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kernelskill::engine::graph {

/// A tensor that holds `bytes`, whatever its type.
[[nodiscard]] TensorData owningTensor(TensorType type, std::vector<std::byte> bytes);

/// The type of a tensor in row-major order without gaps. No size is negative, and the product of
/// the sizes fits into 63 bits.
[[nodiscard]] TensorType contiguousType(ElementType element, std::span<const std::int64_t> sizes);

/// The same with extents that may be dynamic: strides are then, too.
[[nodiscard]] TensorType contiguousType(ElementType element, std::vector<Extent> sizes);

/// The extents by their values at export.
[[nodiscard]] std::vector<std::int64_t> valuesOf(std::span<const Extent> extents);

} // namespace kernelskill::engine::graph
