/// The order of a tensor in memory in which its second axis, that of channels, is the innermost
/// one: a tensor [n, channels, height, width] is a buffer [n, height, width, channels]. Tensors of
/// four and more axes have one.
#pragma once

#include "analysis/raise/tensor.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kernelskill::analysis::raise {

[[nodiscard]] constexpr bool hasChannelsLast(std::size_t rank) {
    return rank >= 4;
}

/// Moves the second of the list, which has one for each axis, to the end.
template <typename T>
[[nodiscard]] std::vector<T> inChannelsLast(std::vector<T> ofAxes) {
    std::rotate(ofAxes.begin() + 1, ofAxes.begin() + 2, ofAxes.end());
    return ofAxes;
}

/// The tensor with its axes in the order of memory.
[[nodiscard]] Tensor inChannelsLast(const Tensor& tensor);
/// The inverse.
[[nodiscard]] Tensor fromChannelsLast(const Tensor& tensor);

} // namespace kernelskill::analysis::raise
