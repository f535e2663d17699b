/// Sums of products of two tensors: products of matrices in all their forms.
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

/// Operands are written to buffers unless they are views of some: each element is read often.
Tensor operandOf(Lowering& in, const Tensor& tensor) {
    return convertedTensor(in.reread(tensor), computedIn(tensor.element));
}

Results linear(Lowering& in) {
    const Tensor input = operandOf(in, in.tensor("input"));
    const Tensor weight = operandOf(in, in.tensor("weight"));
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
    return {convertedTensor(productOf(in, operandOf(in, in.tensor("self")),
                                      operandOf(in, in.tensor("other")), in.node().name),
                            in.resultType())};
}
Results batchedMatmul(Lowering& in) {
    return {convertedTensor(productOf(in, operandOf(in, in.tensor("self")),
                                      operandOf(in, in.tensor("mat2")), in.node().name),
                            in.resultType())};
}

/// "bij,bjk->bik": the letters of each operand, and of the result.
struct Equation {
    std::vector<std::string> operands;
    std::string result;
};

Equation parsed(std::string text) {
    std::erase(text, ' ');
    if (text.contains('.'))
        throw NotRaised{fmt::format("the ellipsis in '{}' is not raised", text)};
    Equation equation;
    const std::size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    for (std::size_t begin = 0; begin <= left.size();) {
        const std::size_t end = std::min(left.find(',', begin), left.size());
        equation.operands.push_back(left.substr(begin, end - begin));
        begin = end + 1;
    }
    if (arrow != std::string::npos) {
        equation.result = text.substr(arrow + 2);
        return equation;
    }
    // Without an arrow: the letters that stand once, in their order.
    std::ranges::sort(left);
    for (const char letter : left)
        if (letter != ',' && std::ranges::count(left, letter) == 1)
            equation.result += letter;
    return equation;
}

Results einsum(Lowering& in) {
    const Equation equation = parsed(in.text("equation"));
    std::vector<Tensor> operands;
    for (const Tensor& tensor : in.tensors("tensors"))
        operands.push_back(operandOf(in, tensor));
    if (operands.size() != equation.operands.size())
        throw NotRaised{"an equation with another number of operands"};
    std::map<char, Index> extents;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (equation.operands[i].size() != operands[i].rank())
            throw NotRaised{"an equation with another number of axes"};
        for (std::size_t axis = 0; axis < operands[i].rank(); ++axis)
            if (const auto known = extents.find(equation.operands[i][axis]);
                known == extents.end() || known->second.constant() == 1)
                extents[equation.operands[i][axis]] = operands[i].shape[axis];
    }
    std::vector<Index> shape;
    for (const char letter : equation.result)
        shape.push_back(extents.at(letter));
    std::vector<std::pair<std::string, Index>> summed;
    std::string inner;
    for (const auto& [letter, extent] : extents)
        if (!equation.result.contains(letter)) {
            summed.emplace_back(std::string(1, letter), extent);
            inner += letter;
        }
    const auto product = [=](const Position& at, const Position& k) {
        Scalar value;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            Position from;
            for (std::size_t axis = 0; axis < operands[i].rank(); ++axis) {
                const char letter = equation.operands[i][axis];
                const std::size_t outer = equation.result.find(letter);
                const Index index =
                    outer != std::string::npos ? at.at(outer) : k.at(inner.find(letter));
                from.push_back(operands[i].shape[axis].constant() == 1 ? Index(0) : index);
            }
            const Scalar factor = operands[i].at(from);
            value = value == nullptr ? factor : times(value, factor);
        }
        return value;
    };
    const ScalarKind work = operands.at(0).element;
    const ScalarKind type = in.resultType();
    if (summed.empty())
        return {convertedTensor(
            tensorOf(work, shape, [=](const Position& at) { return product(at, {}); }), type)};
    return {convertedTensor(
        in.builder().reducedBy(Reducer::Sum, work, shape, summed, product, in.node().name), type)};
}

/// softmax(query * key^T * scale + mask) * value.
Results attention(Lowering& in) {
    if (in.real("dropout_p") != 0)
        throw NotRaised{"dropout draws random numbers"};
    if (in.truth("enable_gqa"))
        throw NotRaised{"groups of queries are not raised"};
    const Tensor query = operandOf(in, in.tensor("query"));
    const Tensor key = operandOf(in, in.tensor("key"));
    const Tensor value = operandOf(in, in.tensor("value"));
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
