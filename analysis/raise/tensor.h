/// Tensors that are not in memory: functions from positions to scalars. Views of them cost nothing,
/// and maps of maps are one map.
#pragma once

#include "analysis/raise/scalar.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kernelskill::analysis::raise {

struct Tensor {
    using Element = std::function<Scalar(const std::vector<Index>& position)>;

    ScalarKind element = ScalarKind::Float;
    std::vector<Index> shape;
    Element at;

    [[nodiscard]] std::size_t rank() const { return shape.size(); }
};

/// A tensor that asks `at` once for each position.
[[nodiscard]] Tensor tensorOf(ScalarKind element, std::vector<Index> shape, Tensor::Element at);
[[nodiscard]] Tensor constantTensor(ScalarKind element, std::vector<Index> shape, double value);

/// An axis counted from the end if negative: -1 is the last.
[[nodiscard]] std::size_t axisNumber(std::int64_t axis, std::size_t rank);

// Views. Shapes have to fit: the graph's reader has checked them, so what does not is a defect of
// the caller and ends in an assertion of std::vector's bounds.
[[nodiscard]] Tensor reshaped(const Tensor& tensor, std::vector<Index> shape);
[[nodiscard]] Tensor permuted(const Tensor& tensor, const std::vector<std::size_t>& order);
/// Repeats axes of extent 1, and adds axes in front.
[[nodiscard]] Tensor expanded(const Tensor& tensor, const std::vector<Index>& shape);
/// Elements first, first + step, ... of an axis, `extent` of them.
[[nodiscard]] Tensor sliced(const Tensor& tensor, std::size_t axis, const Index& first,
                            const Index& extent, std::int64_t step = 1);
[[nodiscard]] Tensor selected(const Tensor& tensor, std::size_t axis, const Index& at);
[[nodiscard]] Tensor unsqueezed(const Tensor& tensor, std::size_t axis);
[[nodiscard]] Tensor squeezed(const Tensor& tensor, std::size_t axis);
[[nodiscard]] Tensor flipped(const Tensor& tensor, std::size_t axis);
[[nodiscard]] Tensor rolled(const Tensor& tensor, std::size_t axis, std::int64_t shift);
/// `before` and `after` elements of `value` around an axis; negative ones cut off.
[[nodiscard]] Tensor padded(const Tensor& tensor, std::size_t axis, std::int64_t before,
                            std::int64_t after, double value);
[[nodiscard]] Tensor concatenated(const std::vector<Tensor>& tensors, std::size_t axis);
/// Windows of an axis: a new last axis of extent `size`, one window each `step` elements.
[[nodiscard]] Tensor unfolded(const Tensor& tensor, std::size_t axis, std::int64_t size,
                              std::int64_t step);

// Maps.
/// The shape that tensors of these shapes have together, by PyTorch's rules of broadcasting.
[[nodiscard]] std::vector<Index> broadcastShape(const std::vector<std::vector<Index>>& shapes);
[[nodiscard]] Tensor mapped(const Tensor& tensor, ScalarKind element,
                            std::function<Scalar(const Scalar&)> function);
/// Broadcasts.
[[nodiscard]] Tensor zipped(const std::vector<Tensor>& tensors, ScalarKind element,
                            std::function<Scalar(const std::vector<Scalar>&)> function);
[[nodiscard]] Tensor convertedTensor(const Tensor& tensor, ScalarKind element);

} // namespace kernelskill::analysis::raise
