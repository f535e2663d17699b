#include "engine/graph/lowering/einsum.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/weights_alone.h"
#include "engine/graph/lowering/einsum_path.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;
using Position = std::vector<Index>;

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

/// A tensor with a letter for each axis.
struct Factor {
    std::string letters;
    Tensor tensor;
};

using Extents = std::map<char, Index>;

Extents extentsOf(const std::vector<Factor>& factors) {
    Extents extents;
    for (const Factor& factor : factors)
        for (std::size_t axis = 0; axis < factor.letters.size(); ++axis)
            if (const auto known = extents.find(factor.letters[axis]);
                known == extents.end() || known->second.constant() == 1)
                extents[factor.letters[axis]] = factor.tensor.shape[axis];
    return extents;
}

/// The product of all factors, summed over the letters that `result` lacks.
Tensor productOf(Lowering& in, const std::vector<Factor>& factors, const std::string& result,
                 const Extents& all, const std::string& name) {
    std::vector<Index> shape;
    for (const char letter : result)
        shape.push_back(all.at(letter));
    std::vector<std::pair<std::string, Index>> summed;
    std::string inner;
    for (const auto& [letter, extent] : all)
        if (!result.contains(letter) && std::ranges::any_of(factors, [&](const Factor& factor) {
                return factor.letters.contains(letter);
            })) {
            summed.emplace_back(std::string(1, letter), extent);
            inner += letter;
        }
    const auto product = [=](const Position& at, const Position& k) {
        Scalar value;
        for (const Factor& factor : factors) {
            Position from;
            for (std::size_t axis = 0; axis < factor.letters.size(); ++axis) {
                const char letter = factor.letters[axis];
                const std::size_t outer = result.find(letter);
                const Index index =
                    outer != std::string::npos ? at.at(outer) : k.at(inner.find(letter));
                from.push_back(factor.tensor.shape[axis].constant() == 1 ? Index(0) : index);
            }
            const Scalar element = factor.tensor.at(from);
            value = value == nullptr ? element : times(value, element);
        }
        return value;
    };
    const ScalarKind work = factors.at(0).tensor.element;
    if (summed.empty())
        return tensorOf(work, shape, [=](const Position& at) { return product(at, {}); });
    return in.builder().reducedBy(Reducer::Sum, work, shape, summed, product, name);
}

/// Whether all that is read of each factor depends on weights alone.
std::vector<EinsumOperand> operandsOf(Lowering& in, const std::vector<Factor>& factors) {
    const analysis::raise::Program& program = in.builder().program();
    std::set<BufferId> known;
    for (BufferId buffer = 0; buffer < program.buffers.size(); ++buffer)
        if (program.buffers[buffer].role == Buffer::Role::Weight)
            known.insert(buffer);
    for (const std::size_t step : stepsOfWeightsAlone(program))
        for (const Store& store : std::get<Computation>(program.steps[step]).stores)
            known.insert(store.buffer);
    std::vector<EinsumOperand> operands;
    for (const Factor& factor : factors) {
        bool isKnown = true;
        const Scalar element = factor.tensor.at(Position(factor.tensor.rank(), Index(0)));
        forEachNode(element, [&](const ScalarNode& node) {
            isKnown =
                isKnown && (node.kind != ScalarNode::Kind::Load || known.contains(node.buffer));
        });
        operands.push_back({factor.letters, isKnown && !hasSize(element)});
    }
    return operands;
}

} // namespace

Results einsum(Lowering& in) {
    const Equation equation = parsed(in.text("equation"));
    std::vector<Factor> factors;
    for (const Tensor& tensor : in.tensors("tensors"))
        factors.push_back({{}, factorOf(in, tensor)});
    if (factors.size() != equation.operands.size())
        throw NotRaised{"an equation with another number of operands"};
    for (std::size_t i = 0; i < factors.size(); ++i) {
        factors[i].letters = equation.operands[i];
        if (factors[i].letters.size() != factors[i].tensor.rank())
            throw NotRaised{"an equation with another number of axes"};
    }
    const Extents extents = extentsOf(factors);
    std::map<char, double> estimates;
    for (const auto& [letter, extent] : extents)
        estimates[letter] = estimated(extent);
    for (const EinsumStep& step : einsumPath(operandsOf(in, factors), equation.result, estimates)) {
        const auto place = [&](std::size_t number) {
            return factors.begin() + static_cast<std::ptrdiff_t>(number);
        };
        Factor product{step.letters, productOf(in, {factors[step.left], factors[step.right]},
                                               step.letters, extents, in.node().name + "_pair")};
        factors.erase(place(step.right));
        factors.erase(place(step.left));
        factors.push_back(std::move(product));
    }
    return {convertedTensor(productOf(in, factors, equation.result, extents, in.node().name),
                            in.resultType())};
}

} // namespace kernelskill::engine::graph
