/// Operators that move elements and compute nothing.
#include "engine/graph/lowering/lowering.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;

Results same(Lowering& in) {
    return {in.tensor("self")};
}

/// `shape` with what an extent of -1 stands for.
std::vector<Index> completed(const Tensor& tensor, std::vector<Index> shape) {
    const auto free = std::ranges::find(shape, Index(-1));
    if (free != shape.end()) {
        *free = 1;
        *free = quotient(elementsOf(tensor.shape), elementsOf(shape));
    }
    if (elementsOf(shape) != elementsOf(tensor.shape))
        throw NotRaised{fmt::format("a view of {} elements has {}", elementsOf(tensor.shape).text(),
                                    elementsOf(shape).text())};
    return shape;
}

Results view(Lowering& in) {
    const Tensor self = in.tensor("self");
    return {reshaped(self, completed(self, in.sizes("size")))};
}

Results permute(Lowering& in) {
    const Tensor self = in.tensor("self");
    std::vector<std::size_t> order;
    for (const std::int64_t axis : in.integers("dims"))
        order.push_back(axisNumber(axis, self.rank()));
    return {permuted(self, order)};
}

Results transpose(Lowering& in) {
    const Tensor self = in.tensor("self");
    std::vector<std::size_t> order(self.rank());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::swap(order.at(axisNumber(in.integer("dim0"), self.rank())),
              order.at(axisNumber(in.integer("dim1"), self.rank())));
    return {permuted(self, order)};
}

Results unsqueeze(Lowering& in) {
    const Tensor self = in.tensor("self");
    return {unsqueezed(self, axisNumber(in.integer("dim"), self.rank() + 1))};
}

Results squeeze(Lowering& in) {
    const Tensor self = in.tensor("self");
    const std::size_t axis = axisNumber(in.integer("dim"), self.rank());
    return {self.shape.at(axis).constant() == 1 ? squeezed(self, axis) : self};
}

Results expand(Lowering& in) {
    const Tensor self = in.tensor("self");
    std::vector<Index> shape = in.sizes("size");
    const std::size_t added = shape.size() - self.rank();
    for (std::size_t i = added; i < shape.size(); ++i)
        if (shape[i] == Index(-1))
            shape[i] = self.shape.at(i - added);
    return {expanded(self, shape)};
}

Results broadcastTensors(Lowering& in) {
    Results results = in.tensors("tensors");
    std::vector<std::vector<Index>> shapes;
    for (const Tensor& tensor : results)
        shapes.push_back(tensor.shape);
    const std::vector<Index> shape = broadcastShape(shapes);
    for (Tensor& tensor : results)
        tensor = expanded(tensor, shape);
    return results;
}

/// A bound of a slice as an index from 0 to the extent. NotRaised if it may lie outside.
Index bounded(const Index& bound, const Index& extent) {
    const auto value = bound.constant();
    const auto limit = extent.constant();
    if (value && limit)
        return std::clamp(*value < 0 ? *value + *limit : *value, std::int64_t{0}, *limit);
    // The largest integer stands for the end.
    if (value && *value >= std::int64_t{1} << 40)
        return extent;
    const Index at = value && *value < 0 ? extent + *value : bound;
    const auto least = at.bounds().low;
    const auto room = (extent - at).bounds().low;
    if (!least || *least < 0 || !room || *room < 0)
        throw NotRaised{fmt::format("a bound of the slice, {}, may lie outside of the extent {}",
                                    bound.text(), extent.text())};
    return at;
}

Results slice(Lowering& in) {
    const Tensor self = in.tensor("self");
    const std::size_t axis = axisNumber(in.integer("dim"), self.rank());
    const Index extent = self.shape.at(axis);
    const std::int64_t step = in.integer("step");
    const Index first = in.isNone("start") ? Index(0) : bounded(in.size("start"), extent);
    const Index end = in.isNone("end") ? extent : bounded(in.size("end"), extent);
    Index count = quotient(end - first + (step - 1), step);
    if (const auto known = count.constant())
        count = std::max<std::int64_t>(*known, 0);
    return {sliced(self, axis, first, count, step)};
}

Results select(Lowering& in) {
    const Tensor self = in.tensor("self");
    const std::size_t axis = axisNumber(in.integer("dim"), self.rank());
    const std::int64_t at = in.integer("index");
    return {selected(self, axis, at < 0 ? self.shape.at(axis) + at : Index(at))};
}

Results split(Lowering& in) {
    const Tensor self = in.tensor("self");
    const std::size_t axis = axisNumber(in.integer("dim"), self.rank());
    const std::int64_t size = in.integer("split_size");
    const auto extent = self.shape.at(axis).constant();
    if (!extent || size <= 0)
        throw NotRaised{"a split of an extent that is known only when the program runs"};
    Results parts;
    for (std::int64_t first = 0; first < *extent; first += size)
        parts.push_back(sliced(self, axis, first, std::min(size, *extent - first)));
    return parts;
}

/// Cuts an axis into that many parts of one size, the last one shorter; or into fewer.
Results chunk(Lowering& in) {
    const Tensor self = in.tensor("self");
    const std::size_t axis = axisNumber(in.integer("dim"), self.rank());
    const std::int64_t count = in.integer("chunks");
    const auto extent = self.shape.at(axis).constant();
    if (!extent || count <= 0)
        throw NotRaised{"a split of an extent that is known only when the program runs"};
    const std::int64_t size = std::max<std::int64_t>((*extent + count - 1) / count, 1);
    Results parts;
    for (std::int64_t first = 0; first < *extent; first += size)
        parts.push_back(sliced(self, axis, first, std::min(size, *extent - first)));
    return parts;
}

Results flatten(Lowering& in) {
    const Tensor self = in.tensor("self");
    if (self.rank() == 0)
        return {reshaped(self, {Index(1)})};
    const auto begin = self.shape.begin();
    const auto first =
        static_cast<std::ptrdiff_t>(axisNumber(in.integer("start_dim"), self.rank()));
    const auto last = static_cast<std::ptrdiff_t>(axisNumber(in.integer("end_dim"), self.rank()));
    std::vector<Index> shape(begin, begin + first);
    shape.push_back(elementsOf({begin + first, begin + last + 1}));
    shape.insert(shape.end(), begin + last + 1, self.shape.end());
    return {reshaped(self, shape)};
}

Results unflatten(Lowering& in) {
    const Tensor self = in.tensor("self");
    const auto axis = static_cast<std::ptrdiff_t>(axisNumber(in.integer("dim"), self.rank()));
    std::vector<Index> shape = self.shape;
    const std::vector<Index> sizes = in.sizes("sizes");
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, sizes.begin(), sizes.end());
    return {reshaped(self, completed(self, shape))};
}

Results concatenate(Lowering& in) {
    std::vector<Tensor> tensors = in.tensors("tensors");
    const ScalarKind type = in.resultType();
    // PyTorch leaves out empty tensors of one axis, whatever the others' shapes.
    std::erase_if(tensors, [](const Tensor& tensor) {
        return tensor.rank() == 1 && tensor.shape[0].constant() == 0;
    });
    if (tensors.empty())
        return {constantTensor(type, in.resultShape(), 0)};
    for (Tensor& tensor : tensors)
        tensor = convertedTensor(tensor, type);
    return {concatenated(tensors, axisNumber(in.integer("dim"), tensors.front().rank()))};
}

Results stack(Lowering& in) {
    std::vector<Tensor> tensors = in.tensors("tensors");
    const std::size_t axis = axisNumber(in.integer("dim"), tensors.at(0).rank() + 1);
    for (Tensor& tensor : tensors)
        tensor = unsqueezed(convertedTensor(tensor, in.resultType()), axis);
    return {concatenated(tensors, axis)};
}

Results pad(Lowering& in) {
    if (in.text("mode") != "constant")
        throw NotRaised{fmt::format("padding by '{}' is not raised", in.text("mode"))};
    Tensor result = in.tensor("self");
    const double value = in.isNone("value") ? 0 : in.real("value");
    const std::vector<std::int64_t> amounts = in.integers("pad");
    // Each pair is for one axis, the last axis first: elements before, elements after.
    for (std::size_t i = 0; i + 1 < amounts.size(); i += 2)
        if (amounts[i] != 0 || amounts[i + 1] != 0)
            result = padded(result, result.rank() - 1 - i / 2, amounts[i], amounts[i + 1], value);
    return {result};
}

Results flip(Lowering& in) {
    Tensor result = in.tensor("self");
    for (const std::int64_t axis : in.integers("dims"))
        result = flipped(result, axisNumber(axis, result.rank()));
    return {result};
}

Results roll(Lowering& in) {
    const Tensor self = in.tensor("self");
    const std::vector<std::int64_t> shifts = in.integers("shifts");
    const std::vector<std::int64_t> axes = in.integers("dims");
    if (axes.empty()) {
        const Tensor flat = reshaped(self, {elementsOf(self.shape)});
        return {reshaped(rolled(flat, 0, shifts.at(0)), self.shape)};
    }
    Tensor result = self;
    for (std::size_t i = 0; i < axes.size(); ++i)
        result = rolled(result, axisNumber(axes[i], self.rank()), shifts.at(i));
    return {result};
}

Results unfold(Lowering& in) {
    const Tensor self = in.tensor("self");
    return {unfolded(self, axisNumber(in.integer("dimension"), self.rank()), in.integer("size"),
                     in.integer("step"))};
}

/// Zero where column - row is on the other side of the diagonal.
Results triangle(Lowering& in, bool isLower) {
    const Tensor self = in.tensor("self");
    const std::int64_t diagonal = in.integer("diagonal");
    return {tensorOf(self.element, self.shape, [=](const std::vector<Index>& position) {
        const Index row = position.at(position.size() - 2) + diagonal;
        const Index column = position.back();
        const auto at = [](const Index& index) { return positionValue(ScalarKind::Int64, index); };
        const Scalar isKept = call(ScalarKind::Bool, Function::LessOrEqual,
                                   {at(isLower ? column : row), at(isLower ? row : column)});
        const Scalar value = self.at(position);
        return analysis::raise::select(isKept, value, constantLike(value, 0));
    })};
}
Results lowerTriangle(Lowering& in) {
    return triangle(in, true);
}
Results upperTriangle(Lowering& in) {
    return triangle(in, false);
}

/// Tensors of integers for some axes, which broadcast together; the others are kept.
Results index(Lowering& in) {
    const Tensor self = in.tensor("self");
    const std::vector<std::optional<Tensor>> given = in.optionalTensors("indices");
    std::vector<std::size_t> axes;
    std::vector<std::vector<Index>> shapes;
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i]) {
            if (given[i]->element == ScalarKind::Bool || given[i]->element == ScalarKind::UInt8)
                throw NotRaised{"an index by a mask has as many results as the mask has ones"};
            axes.push_back(i);
            shapes.push_back(given[i]->shape);
        }
    if (axes.empty())
        return {self};
    const std::vector<Index> common = broadcastShape(shapes);
    std::vector<std::optional<Tensor>> indices(self.rank());
    for (const std::size_t axis : axes)
        indices.at(axis) = expanded(in.reread(*given[axis]), common);
    // The common axes stand where the indexed ones do, or in front if those are apart.
    const bool areTogether = axes.back() - axes.front() + 1 == axes.size();
    const std::size_t front = areTogether ? axes.front() : 0;
    std::vector<Index> shape;
    for (std::size_t i = 0; i < self.rank(); ++i) {
        if (i == front || (i == 0 && front == 0 && !areTogether))
            shape.insert(shape.end(), common.begin(), common.end());
        if (!indices[i])
            shape.push_back(self.shape[i]);
    }
    return {tensorOf(self.element, shape, [=](const std::vector<Index>& position) {
        const std::vector<Index> at(position.begin() + static_cast<std::ptrdiff_t>(front),
                                    position.begin() +
                                        static_cast<std::ptrdiff_t>(front + common.size()));
        std::vector<Index> from;
        std::size_t next = 0;
        for (std::size_t i = 0; i < self.rank(); ++i) {
            if (next == front)
                next += common.size();
            if (!indices[i]) {
                from.push_back(position.at(next++));
                continue;
            }
            const Scalar value = converted(indices[i]->at(at), ScalarKind::Int64);
            const Index extent = self.shape[i];
            const auto most = extent.bounds().high;
            const Index read = Index::data(value, most ? analysis::raise::Bounds{-*most, *most - 1}
                                                       : analysis::raise::Bounds{});
            // A negative index counts from the end.
            from.push_back(remainder(read + extent, extent));
        }
        return self.at(from);
    })};
}

constexpr std::array viewTable = {
    Rule{"aten._unsafe_view.default", view},
    Rule{"aten.alias.default", same},
    Rule{"aten.broadcast_tensors.default", broadcastTensors},
    Rule{"aten.cat.default", concatenate},
    Rule{"aten.chunk.default", chunk},
    Rule{"aten.clone.default", same},
    Rule{"aten.detach.default", same},
    Rule{"aten.expand.default", expand},
    Rule{"aten.flatten.using_ints", flatten},
    Rule{"aten.flip.default", flip},
    Rule{"aten.index.Tensor", index},
    Rule{"aten.pad.default", pad},
    Rule{"aten.permute.default", permute},
    Rule{"aten.roll.default", roll},
    Rule{"aten.select.int", select},
    Rule{"aten.slice.Tensor", slice},
    Rule{"aten.split.Tensor", split},
    Rule{"aten.squeeze.dim", squeeze},
    Rule{"aten.stack.default", stack},
    Rule{"aten.transpose.int", transpose},
    Rule{"aten.tril.default", lowerTriangle},
    Rule{"aten.triu.default", upperTriangle},
    Rule{"aten.unflatten.int", unflatten},
    Rule{"aten.unfold.default", unfold},
    Rule{"aten.unsqueeze.default", unsqueeze},
    Rule{"aten.view.default", view},
};

} // namespace

std::span<const Rule> viewRules() {
    return viewTable;
}

} // namespace kernelskill::engine::graph
