/// The elements of tensors and buffers as numbers.
#pragma once

#include "analysis/syntax/syntax.h"
#include "engine/graph/program.h"

#include <cstddef>
#include <span>
#include <vector>

namespace kernelskill::engine::graph {

/// The elements that lie in `bytes` one behind another; bytes of a last part of an element are not
/// looked at. Integers of 64 bits lose what a double does not hold.
[[nodiscard]] std::vector<double> numbersIn(analysis::ScalarKind kind,
                                            std::span<const std::byte> bytes);

/// The elements in row-major order, by the tensor's strides. The tensor holds its bytes.
[[nodiscard]] std::vector<double> numbersIn(const TensorData& tensor);
/// The bytes of the elements in row-major order without gaps. The tensor holds its bytes.
[[nodiscard]] std::vector<std::byte> contiguousBytes(const TensorData& tensor);

} // namespace kernelskill::engine::graph
