/// Sums of products of two tensors: products of matrices in all their forms.
#include "engine/graph/lowering/einsum.h"
#include "engine/graph/lowering/lowering.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;
using Position = std::vector<Index>;
using Values = std::vector<Scalar>;

Results linear(Lowering& in) {
    const Tensor input = factorOf(in, in.tensor("input"));
    const Tensor weight = factorOf(in, in.tensor("weight"));
    const ScalarKind type = in.resultType();
    std::vector<Index> shape = input.shape;
    const Index inner = shape.back();
    const bool hasRows = weight.rank() == 2;
    if (hasRows)
        shape.back() = weight.shape[0];
    else
        shape.pop_back();
    Tensor result = in.builder().reducedBy(
        Reducer::Sum, input.element, shape, {{"k", inner}},
        [&](const Position& at, const Position& k) {
            Position from(at.begin(), hasRows ? at.end() - 1 : at.end());
            from.push_back(k[0]);
            const Position row = hasRows ? Position{at.back(), k[0]} : Position{k[0]};
            return times(input.at(from), weight.at(row));
        },
        in.node().name);
    if (const auto bias = in.optionalTensor("bias"))
        result = zipped({result, *bias}, result.element,
                        [](const Values& x) { return plus(x[0], converted(x[1], x[0]->type)); });
    return {convertedTensor(result, type)};
}

/// Products of the last two axes; those before broadcast. Vectors are rows or columns.
Tensor productOf(Lowering& in, Tensor left, Tensor right, const std::string& name) {
    if (left.rank() == 0 || right.rank() == 0)
        throw NotRaised{"a product of numbers"};
    const bool isRow = left.rank() == 1;
    const bool isColumn = right.rank() == 1;
    if (isRow)
        left = unsqueezed(left, 0);
    if (isColumn)
        right = unsqueezed(right, 1);
    std::vector<Index> shape = broadcastShape(
        {{left.shape.begin(), left.shape.end() - 2}, {right.shape.begin(), right.shape.end() - 2}});
    const auto batched = [&](const Tensor& tensor) {
        std::vector<Index> all = shape;
        all.insert(all.end(), tensor.shape.end() - 2, tensor.shape.end());
        return expanded(tensor, all);
    };
    const Tensor rows = batched(left);
    const Tensor columns = batched(right);
    const Index inner = left.shape.back();
    shape.push_back(left.shape[left.rank() - 2]);
    shape.push_back(right.shape.back());
    Tensor result = in.builder().reducedBy(
        Reducer::Sum, left.element, shape, {{"k", inner}},
        [&](const Position& at, const Position& k) {
            Position of = at;
            of.back() = k[0];
            Position by = at;
            by[by.size() - 2] = k[0];
            return times(rows.at(of), columns.at(by));
        },
        name);
    if (isColumn)
        result = squeezed(result, result.rank() - 1);
    if (isRow)
        result = squeezed(result, result.rank() - (isColumn ? 1 : 2));
    return result;
}

Results matmul(Lowering& in) {
    return {convertedTensor(productOf(in, factorOf(in, in.tensor("self")),
                                      factorOf(in, in.tensor("other")), in.node().name),
                            in.resultType())};
}
Results batchedMatmul(Lowering& in) {
    return {convertedTensor(productOf(in, factorOf(in, in.tensor("self")),
                                      factorOf(in, in.tensor("mat2")), in.node().name),
                            in.resultType())};
}

/// softmax(query * key^T * scale + mask) * value.
Results attention(Lowering& in) {
    if (in.real("dropout_p") != 0)
        throw NotRaised{"dropout draws random numbers"};
    if (in.truth("enable_gqa"))
        throw NotRaised{"groups of queries are not raised"};
    const Tensor query = factorOf(in, in.tensor("query"));
    const Tensor key = factorOf(in, in.tensor("key"));
    const Tensor value = factorOf(in, in.tensor("value"));
    const auto width = query.shape.back().constant();
    if (in.isNone("scale") && !width)
        throw NotRaised{"a width that is known only when the program runs"};
    const double scale =
        in.isNone("scale") ? 1 / std::sqrt(static_cast<double>(*width)) : in.real("scale");
    std::vector<std::size_t> order(key.rank());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    Tensor scores = productOf(in, query, permuted(key, order), in.node().name + "_scores");
    scores = mapped(scores, scores.element, [scale](const Scalar& x) { return times(x, scale); });
    constexpr double none = -std::numeric_limits<double>::infinity();
    if (const auto mask = in.optionalTensor("attn_mask"))
        scores = zipped({scores, *mask}, scores.element, [](const Values& x) {
            return x[1]->type == ScalarKind::Bool ? select(x[1], x[0], constantLike(x[0], none))
                                                  : plus(x[0], converted(x[1], x[0]->type));
        });
    if (in.truth("is_causal"))
        scores = tensorOf(scores.element, scores.shape, [scores](const Position& at) {
            const auto place = [](const Index& index) {
                return positionValue(ScalarKind::Int64, index);
            };
            const Scalar value = scores.at(at);
            return select(call(ScalarKind::Bool, Function::LessOrEqual,
                               {place(at.back()), place(at[at.size() - 2])}),
                          value, constantLike(value, none));
        });
    scores = in.reread(scores, cheapToReread);
    const std::vector<std::size_t> last{scores.rank() - 1};
    const Tensor largest =
        in.builder().reduced(Reducer::Maximum, scores, last, true, in.node().name + "_max");
    const Tensor weights = zipped({scores, largest}, scores.element, [](const Values& x) {
        return applied(Function::Exponential, minus(x[0], x[1]));
    });
    const Tensor sum =
        in.builder().reduced(Reducer::Sum, weights, last, true, in.node().name + "_sum");
    const Tensor shares =
        zipped({weights, sum}, scores.element, [](const Values& x) { return over(x[0], x[1]); });
    // PyTorch rounds them to the type of the values, too.
    const Tensor rounded = in.reread(convertedTensor(shares, in.resultType()));
    return {convertedTensor(
        productOf(in, convertedTensor(rounded, scores.element), value, in.node().name),
        in.resultType())};
}

constexpr std::array contractionTable = {
    Rule{"aten.bmm.default", batchedMatmul},
    Rule{"aten.einsum.default", einsum},
    Rule{"aten.linear.default", linear},
    Rule{"aten.matmul.default", matmul},
    Rule{"aten.scaled_dot_product_attention.default", attention},
};

} // namespace

std::span<const Rule> contractionRules() {
    return contractionTable;
}

} // namespace kernelskill::engine::graph
