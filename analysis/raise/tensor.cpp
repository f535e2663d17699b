#include "analysis/raise/tensor.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

std::string keyOf(const std::vector<Index>& position) {
    std::string key;
    for (const Index& at : position)
        key += at.text() + ";";
    return key;
}

/// A tensor whose element is `tensor`'s at the position that `from` makes of its own.
Tensor viewed(const Tensor& tensor, std::vector<Index> shape,
              std::function<std::vector<Index>(const std::vector<Index>&)> from) {
    return tensorOf(tensor.element, std::move(shape),
                    [at = tensor.at, from = std::move(from)](const std::vector<Index>& position) {
                        return at(from(position));
                    });
}

} // namespace

Tensor tensorOf(ScalarKind element, std::vector<Index> shape, Tensor::Element at) {
    auto known = std::make_shared<std::map<std::string, Scalar>>();
    return {element, std::move(shape),
            [known = std::move(known), at = std::move(at)](const std::vector<Index>& position) {
                const std::string key = keyOf(position);
                if (const auto found = known->find(key); found != known->end())
                    return found->second;
                Scalar value = at(position);
                known->emplace(key, value);
                return value;
            }};
}

Tensor constantTensor(ScalarKind element, std::vector<Index> shape, double value) {
    return {element, std::move(shape),
            [constant = isFloating(element)
                            ? number(element, value)
                            : integerNumber(element, static_cast<std::int64_t>(value))](
                const std::vector<Index>&) { return constant; }};
}

std::size_t axisNumber(std::int64_t axis, std::size_t rank) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

Tensor reshaped(const Tensor& tensor, std::vector<Index> shape) {
    return viewed(tensor, shape, [from = tensor.shape, to = shape](const auto& position) {
        return unflattened(flattened(position, to), from);
    });
}

Tensor permuted(const Tensor& tensor, const std::vector<std::size_t>& order) {
    std::vector<Index> shape;
    for (const std::size_t axis : order)
        shape.push_back(tensor.shape.at(axis));
    return viewed(tensor, std::move(shape), [order](const std::vector<Index>& position) {
        std::vector<Index> from(position.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            from.at(order[i]) = position[i];
        return from;
    });
}

Tensor expanded(const Tensor& tensor, const std::vector<Index>& shape) {
    return viewed(tensor, shape, [own = tensor.shape](const std::vector<Index>& position) {
        std::vector<Index> from(position.end() - static_cast<std::ptrdiff_t>(own.size()),
                                position.end());
        for (std::size_t i = 0; i < own.size(); ++i)
            if (own[i].constant() == 1)
                from[i] = 0;
        return from;
    });
}

Tensor sliced(const Tensor& tensor, std::size_t axis, const Index& first, const Index& extent,
              std::int64_t step) {
    std::vector<Index> shape = tensor.shape;
    shape.at(axis) = extent;
    return viewed(tensor, std::move(shape), [axis, first, step](std::vector<Index> position) {
        position.at(axis) = position.at(axis) * step + first;
        return position;
    });
}

Tensor selected(const Tensor& tensor, std::size_t axis, const Index& at) {
    return squeezed(sliced(tensor, axis, at, 1), axis);
}

Tensor unsqueezed(const Tensor& tensor, std::size_t axis) {
    std::vector<Index> shape = tensor.shape;
    const auto place = static_cast<std::ptrdiff_t>(axis);
    shape.insert(shape.begin() + place, Index(1));
    return viewed(tensor, std::move(shape), [place](std::vector<Index> position) {
        position.erase(position.begin() + place);
        return position;
    });
}

Tensor squeezed(const Tensor& tensor, std::size_t axis) {
    std::vector<Index> shape = tensor.shape;
    const auto place = static_cast<std::ptrdiff_t>(axis);
    shape.erase(shape.begin() + place);
    return viewed(tensor, std::move(shape), [place](std::vector<Index> position) {
        position.insert(position.begin() + place, Index(0));
        return position;
    });
}

Tensor flipped(const Tensor& tensor, std::size_t axis) {
    const Index last = tensor.shape.at(axis) - 1;
    return viewed(tensor, tensor.shape, [axis, last](std::vector<Index> position) {
        position.at(axis) = last - position.at(axis);
        return position;
    });
}

Tensor rolled(const Tensor& tensor, std::size_t axis, std::int64_t shift) {
    const Index extent = tensor.shape.at(axis);
    return viewed(tensor, tensor.shape, [axis, shift, extent](std::vector<Index> position) {
        // The remainder of what is not negative, whatever the shift.
        position.at(axis) =
            remainder(position.at(axis) + extent - remainder(Index(shift), extent), extent);
        return position;
    });
}

Tensor padded(const Tensor& tensor, std::size_t axis, std::int64_t before, std::int64_t after,
              double value) {
    std::vector<Index> shape = tensor.shape;
    const Index extent = shape.at(axis);
    shape.at(axis) = extent + before + after;
    const Scalar filling = isFloating(tensor.element)
                               ? number(tensor.element, value)
                               : integerNumber(tensor.element, static_cast<std::int64_t>(value));
    return tensorOf(tensor.element, std::move(shape),
                    [at = tensor.at, axis, before, extent, filling](std::vector<Index> position) {
                        const Index inner = position.at(axis) - before;
                        position.at(axis) = inner;
                        const Scalar inside = isInside(inner, extent);
                        return select(inside, at(position), filling);
                    });
}

Tensor concatenated(const std::vector<Tensor>& tensors, std::size_t axis) {
    std::vector<Index> shape = tensors.front().shape;
    shape.at(axis) = 0;
    for (const Tensor& tensor : tensors)
        shape.at(axis) = shape.at(axis) + tensor.shape.at(axis);
    return tensorOf(
        tensors.front().element, std::move(shape), [tensors, axis](std::vector<Index> position) {
            const Index along = position.at(axis);
            // The element is in the first tensor that ends behind it; conditions are nested from
            // the last tensor to the first.
            Index end;
            std::vector<Index> begins;
            for (const Tensor& tensor : tensors) {
                begins.push_back(end);
                end = end + tensor.shape.at(axis);
            }
            Scalar value;
            for (std::size_t i = tensors.size(); i-- > 0;) {
                position.at(axis) = along - begins[i];
                const Bounds bounds = along.bounds();
                const auto begin = begins[i].constant();
                const Index next = begins[i] + tensors[i].shape.at(axis);
                const auto limit = next.constant();
                const bool isBelow = begin && bounds.high && *bounds.high < *begin;
                const bool isAbove = limit && bounds.low && *bounds.low >= *limit;
                if (isBelow || isAbove)
                    continue;
                const Scalar own = tensors[i].at(position);
                value = value == nullptr ? own
                                         : select(call(ScalarKind::Bool, Function::Less,
                                                       {positionValue(ScalarKind::Int64, along),
                                                        positionValue(ScalarKind::Int64, next)}),
                                                  own, value);
            }
            return value;
        });
}

Tensor unfolded(const Tensor& tensor, std::size_t axis, std::int64_t size, std::int64_t step) {
    std::vector<Index> shape = tensor.shape;
    shape.at(axis) = quotient(shape.at(axis) - size, step) + 1;
    shape.emplace_back(size);
    return viewed(tensor, std::move(shape), [axis, step](std::vector<Index> position) {
        position.at(axis) = position.at(axis) * step + position.back();
        position.pop_back();
        return position;
    });
}

std::vector<Index> broadcastShape(const std::vector<std::vector<Index>>& shapes) {
    std::size_t rank = 0;
    for (const auto& shape : shapes)
        rank = std::max(rank, shape.size());
    std::vector<Index> result(rank, Index(1));
    for (const auto& shape : shapes)
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (shape[i].constant() != 1)
                result[rank - shape.size() + i] = shape[i];
    return result;
}

Tensor mapped(const Tensor& tensor, ScalarKind element,
              std::function<Scalar(const Scalar&)> function) {
    return tensorOf(element, tensor.shape,
                    [at = tensor.at, function = std::move(function)](
                        const std::vector<Index>& position) { return function(at(position)); });
}

Tensor zipped(const std::vector<Tensor>& tensors, ScalarKind element,
              std::function<Scalar(const std::vector<Scalar>&)> function) {
    std::vector<std::vector<Index>> shapes;
    for (const Tensor& tensor : tensors)
        shapes.push_back(tensor.shape);
    std::vector<Index> shape = broadcastShape(shapes);
    std::vector<Tensor> fitted;
    for (const Tensor& tensor : tensors)
        fitted.push_back(tensor.shape == shape ? tensor : expanded(tensor, shape));
    return tensorOf(element, std::move(shape),
                    [fitted = std::move(fitted),
                     function = std::move(function)](const std::vector<Index>& position) {
                        std::vector<Scalar> values;
                        for (const Tensor& tensor : fitted)
                            values.push_back(tensor.at(position));
                        return function(values);
                    });
}

Tensor convertedTensor(const Tensor& tensor, ScalarKind element) {
    if (tensor.element == element)
        return tensor;
    return mapped(tensor, element,
                  [element](const Scalar& value) { return converted(value, element); });
}

} // namespace kernelskill::analysis::raise
