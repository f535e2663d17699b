#include "analysis/raise/affine.h"
#include "analysis/raise/rewrite.h"
#include "engine/graph/simplify/rules.h"
#include "engine/graph/simplify/weight_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

namespace raise = analysis::raise;
using raise::Function;
using raise::Scalar;
using raise::ScalarNode;

/// The part of the stores that is affine in the sum, with factors of weights.
struct Scaled {
    Scalar part;
    raise::Affine affine;
};

std::optional<Scaled> scaledSum(const raise::Computation& computation, const WeightValues& values) {
    std::vector<Scalar> roots;
    Scalar sum;
    for (const raise::Store& store : computation.stores)
        roots.push_back(store.value);
    for (const Scalar& node : raise::nodesOf(roots))
        if (node->kind == ScalarNode::Kind::Accumulated)
            sum = node;
    std::optional<Scaled> largest;
    if (sum == nullptr)
        return largest;
    for (const Scalar& part : raise::dominatorsOf(roots, sum))
        if (const auto affine = raise::affineIn(part, sum.get()))
            if (values.hasAlone(affine->scale) && values.hasAlone(affine->offset))
                largest = Scaled{part, *affine};
    return largest;
}

bool reads(const Scalar& value) {
    return std::ranges::any_of(raise::nodesOf({value}), [](const Scalar& node) {
        return node->kind == ScalarNode::Kind::Load;
    });
}

bool isRoot(const Scalar& scale) {
    bool has = false;
    raise::forEachNode(scale, [&](const ScalarNode& node) {
        has = has || node.function == Function::ReciprocalSquareRoot ||
              node.function == Function::SquareRoot;
    });
    return has;
}

/// The argument of the product that holds weights alone and runs over all axes of the scale.
std::optional<std::size_t> weightFactor(const Scalar& product, const Scalar& scale,
                                        const std::vector<raise::Axis>& axes,
                                        const WeightValues& values) {
    for (const std::size_t i : {1U, 0U}) {
        const Scalar& factor = product->arguments[i];
        if (reads(factor) && values.hasAlone(factor) && factor->type == scale->type &&
            std::ranges::all_of(axesIn(scale, axes), [&](const raise::Axis& axis) {
                return raise::mentions(factor, axis.id);
            }))
            return i;
    }
    return std::nullopt;
}

std::optional<Simplification> foldScale(raise::Computation& computation, const WeightValues& values,
                                        const IsUsed& isUsed) {
    if (raise::formOf(computation) != raise::Form::Contraction ||
        !raise::isFloating(computation.reductions[0].type))
        return std::nullopt;
    raise::Interner interner;
    interner.intern(computation);
    const auto scaled = scaledSum(computation, values);
    // A number costs nothing behind the sum, and a copy of the weights before it.
    if (!scaled || scaled->affine.scale == nullptr || !reads(scaled->affine.scale))
        return std::nullopt;
    const Scalar& scale = scaled->affine.scale;
    const Scalar& product = computation.reductions[0].element;
    const auto at = weightFactor(product, scale, computation.axes, values);
    const std::string name = isRoot(scale) ? "batch-norm-folding" : "scale-into-weights";
    if (!at || !isUsed(name))
        return std::nullopt;
    std::vector<Scalar> factors = product->arguments;
    factors[*at] = raise::call(product->type, Function::Multiply, {factors[*at], scale});
    const raise::Affine rest{nullptr, scaled->affine.offset};
    const raise::NodeReplacements replacements{
        {scaled->part.get(),
         raise::applied(rest, raise::accumulated(computation.reductions[0].type, 0))}};
    computation.reductions[0].element = raise::call(product->type, Function::Multiply, factors);
    for (raise::Store& store : computation.stores)
        store.value = raise::withNodes(store.value, replacements);
    return Simplification{
        name,
        computation.sources,
        fmt::format("the factors behind the sums of {} are part of its weights", computation.name),
        "the factors depend on weights alone and are the same for all terms of a sum",
        true,
        false};
}

} // namespace

Done foldScales(raise::Program& program, const IsUsed& isUsed) {
    const WeightValues values(program);
    Done done;
    for (raise::Step& step : program.steps)
        if (auto* computation = std::get_if<raise::Computation>(&step))
            if (auto one = foldScale(*computation, values, isUsed))
                done.push_back(*std::move(one));
    return done;
}

} // namespace kernelskill::engine::graph
