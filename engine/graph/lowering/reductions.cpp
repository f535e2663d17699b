/// Operators that combine the elements along axes.
#include "engine/graph/lowering/lowering.h"

#include <array>
#include <cmath>
#include <limits>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;
using Values = std::vector<Scalar>;

Tensor inFloat(const Tensor& tensor) {
    return convertedTensor(tensor, computedIn(tensor.element));
}

/// The number of elements that are reduced, as a value.
Scalar countOf(const Tensor& tensor, const std::vector<std::size_t>& axes, ScalarKind type) {
    Index count = 1;
    for (const std::size_t axis : axes)
        count = count * tensor.shape.at(axis);
    return converted(positionValue(ScalarKind::Int64, count), type);
}

Tensor sumOf(Lowering& in, const Tensor& tensor, const std::vector<std::size_t>& axes, bool keeps) {
    const ScalarKind type = in.resultType();
    const Tensor work = convertedTensor(tensor, computedIn(type));
    return convertedTensor(in.builder().reduced(Reducer::Sum, work, axes, keeps, in.node().name),
                           type);
}

Tensor meanOf(Lowering& in, const Tensor& tensor, const std::vector<std::size_t>& axes,
              bool keeps) {
    const ScalarKind type = in.resultType();
    const Tensor work = convertedTensor(tensor, computedIn(type));
    const Scalar count = countOf(tensor, axes, work.element);
    const Tensor sum = in.builder().reduced(Reducer::Sum, work, axes, keeps, in.node().name);
    return mapped(sum, type, [=](const Scalar& x) { return converted(over(x, count), type); });
}

Results sum(Lowering& in) {
    const Tensor self = in.tensor("self");
    return {sumOf(in, self, in.axes("dim", self.rank()), in.truth("keepdim"))};
}
Results mean(Lowering& in) {
    const Tensor self = in.tensor("self");
    return {meanOf(in, self, in.axes("dim", self.rank()), in.truth("keepdim"))};
}

Results meanOfAll(Lowering& in) {
    const Tensor self = in.tensor("self");
    return {meanOf(in, self, allAxes(self), false)};
}

/// The extreme along an axis, and where it is first.
Results extreme(Lowering& in, Reducer value, Reducer place) {
    const Tensor self = in.tensor("self");
    const std::vector<std::size_t> axes{axisNumber(in.integer("dim"), self.rank())};
    return in.builder().reduced({{value, self, self.element}, {place, self, ScalarKind::Int64}},
                                axes, in.truth("keepdim"), in.node().name);
}
Results maximumAlong(Lowering& in) {
    return extreme(in, Reducer::Maximum, Reducer::FirstMaximum);
}
Results minimumAlong(Lowering& in) {
    return extreme(in, Reducer::Minimum, Reducer::FirstMinimum);
}

Results placeOf(Lowering& in, Reducer reducer) {
    const Tensor self = in.tensor("self");
    if (!in.isNone("dim"))
        return {in.builder().reduced(reducer, self, {axisNumber(in.integer("dim"), self.rank())},
                                     in.truth("keepdim"), in.node().name)};
    const Tensor result =
        in.builder().reduced(reducer, self, allAxes(self), in.truth("keepdim"), in.node().name);
    return {result};
}
Results placeOfMaximum(Lowering& in) {
    return placeOf(in, Reducer::FirstMaximum);
}
Results placeOfMinimum(Lowering& in) {
    return placeOf(in, Reducer::FirstMinimum);
}

Scalar isInfinite(const Scalar& x) {
    return isEqual(applied(Function::Absolute, x),
                   constantLike(x, std::numeric_limits<double>::infinity()));
}

/// The largest element along axes and the sum of exp(x - largest), both kept with extents of 1.
struct Exponentials {
    Tensor input;
    Tensor largest;
    Tensor sum;
};

Exponentials exponentials(Lowering& in, const Tensor& tensor,
                          const std::vector<std::size_t>& axes) {
    const Tensor input = in.reread(inFloat(tensor), cheapToReread);
    const Tensor largest =
        in.builder().reduced(Reducer::Maximum, input, axes, true, in.node().name + "_max");
    const Tensor exponential = zipped({input, largest}, input.element, [](const Values& x) {
        // A row of infinities alone has no finite difference.
        const Scalar bound = select(isInfinite(x[1]), constantLike(x[1], 0), x[1]);
        return applied(Function::Exponential, minus(x[0], bound));
    });
    return {input, largest,
            in.builder().reduced(Reducer::Sum, exponential, axes, true, in.node().name + "_sum")};
}

Results softmax(Lowering& in) {
    const Tensor self = in.tensor("self");
    const ScalarKind type = in.resultType();
    const auto parts = exponentials(in, self, {axisNumber(in.integer("dim"), self.rank())});
    return {zipped({parts.input, parts.largest, parts.sum}, type, [=](const Values& x) {
        return converted(over(applied(Function::Exponential, minus(x[0], x[1])), x[2]), type);
    })};
}

Results logSoftmax(Lowering& in) {
    const Tensor self = in.tensor("self");
    const ScalarKind type = in.resultType();
    const auto parts = exponentials(in, self, {axisNumber(in.integer("dim"), self.rank())});
    return {zipped({parts.input, parts.largest, parts.sum}, type, [=](const Values& x) {
        return converted(minus(minus(x[0], x[1]), applied(Function::Logarithm, x[2])), type);
    })};
}

Results logSumExp(Lowering& in) {
    const Tensor self = in.tensor("self");
    const ScalarKind type = in.resultType();
    const std::vector<std::size_t> axes = in.axes("dim", self.rank());
    const auto parts = exponentials(in, self, axes);
    Tensor result = zipped({parts.largest, parts.sum}, type, [=](const Values& x) {
        const Scalar bound = select(isInfinite(x[0]), constantLike(x[0], 0), x[0]);
        return converted(plus(applied(Function::Logarithm, x[1]), bound), type);
    });
    if (!in.truth("keepdim"))
        for (std::size_t i = axes.size(); i-- > 0;)
            result = squeezed(result, axes[i]);
    return {result};
}

Results vectorNorm(Lowering& in) {
    const Tensor self = in.tensor("self");
    const ScalarKind type = in.resultType();
    const std::vector<std::size_t> axes = in.axes("dim", self.rank());
    const double order = in.real("ord");
    const bool keeps = in.truth("keepdim");
    const Tensor absolute = mapped(inFloat(self), computedIn(self.element),
                                   [](const Scalar& x) { return applied(Function::Absolute, x); });
    const auto reduce = [&](Reducer reducer, const Tensor& tensor) {
        return in.builder().reduced(reducer, tensor, axes, keeps, in.node().name);
    };
    if (std::isinf(order))
        return {convertedTensor(reduce(order > 0 ? Reducer::Maximum : Reducer::Minimum, absolute),
                                type)};
    if (order == 0)
        return {convertedTensor(
            reduce(Reducer::Sum,
                   mapped(absolute, absolute.element,
                          [](const Scalar& x) { return converted(isAbove(x, 0), x->type); })),
            type)};
    const Tensor powers = mapped(absolute, absolute.element, [order](const Scalar& x) {
        return order == 1   ? x
               : order == 2 ? times(x, x)
                            : applied(Function::Power, x, constantLike(x, order));
    });
    return {mapped(reduce(Reducer::Sum, powers), type, [=](const Scalar& x) {
        const Scalar root = order == 1   ? x
                            : order == 2 ? applied(Function::SquareRoot, x)
                                         : applied(Function::Power, x, constantLike(x, 1 / order));
        return converted(root, type);
    })};
}

Results scan(Lowering& in, Reducer reducer) {
    const Tensor self = in.tensor("self");
    const ScalarKind type = in.resultType();
    const Tensor work = convertedTensor(self, computedIn(type));
    if (self.rank() == 0)
        return {convertedTensor(self, type)};
    return {convertedTensor(in.builder().scanned(reducer, work,
                                                 axisNumber(in.integer("dim"), self.rank()),
                                                 in.node().name),
                            type)};
}
Results cumulativeSum(Lowering& in) {
    return scan(in, Reducer::Sum);
}
Results cumulativeProduct(Lowering& in) {
    return scan(in, Reducer::Product);
}

constexpr std::array reductionTable = {
    Rule{"aten.argmax.default", placeOfMaximum},
    Rule{"aten.argmin.default", placeOfMinimum},
    Rule{"aten.cumprod.default", cumulativeProduct},
    Rule{"aten.cumsum.default", cumulativeSum},
    Rule{"aten.linalg_vector_norm.default", vectorNorm},
    Rule{"aten.log_softmax.int", logSoftmax},
    Rule{"aten.logsumexp.default", logSumExp},
    Rule{"aten.max.dim", maximumAlong},
    Rule{"aten.mean.default", meanOfAll},
    Rule{"aten.mean.dim", mean},
    Rule{"aten.min.dim", minimumAlong},
    Rule{"aten.softmax.int", softmax},
    Rule{"aten.sum.dim_IntList", sum},
};

} // namespace

std::span<const Rule> reductionRules() {
    return reductionTable;
}

} // namespace kernelskill::engine::graph
