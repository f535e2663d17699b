/// Losses: a value for each element or row, then their sum or mean.
#include "engine/graph/lowering/lowering.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <optional>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;
using Position = std::vector<Index>;
using Values = std::vector<Scalar>;

enum class Averaging : std::uint8_t { None, Mean, Sum };

Averaging averagingOf(Lowering& in) {
    return static_cast<Averaging>(in.integer("reduction"));
}

Results averaged(Lowering& in, const Tensor& losses) {
    const ScalarKind type = in.resultType();
    const Averaging averaging = averagingOf(in);
    if (averaging == Averaging::None)
        return {convertedTensor(losses, type)};
    const Tensor sum =
        in.builder().reduced(Reducer::Sum, losses, allAxes(losses), false, in.node().name);
    const Scalar count =
        converted(positionValue(ScalarKind::Int64, elementsOf(losses.shape)), losses.element);
    return {mapped(sum, type, [=](const Scalar& x) {
        return converted(averaging == Averaging::Mean ? over(x, count) : x, type);
    })};
}

Tensor inWork(const Tensor& tensor) {
    return convertedTensor(tensor, computedIn(tensor.element));
}

Results smoothL1(Lowering& in) {
    const double beta = in.real("beta");
    const Tensor self = inWork(in.tensor("self"));
    return averaged(
        in, zipped({self, inWork(in.tensor("target"))}, self.element, [beta](const Values& x) {
            const Scalar distance = applied(Function::Absolute, minus(x[0], x[1]));
            if (beta == 0)
                return distance;
            const Scalar squared = over(times(times(distance, distance), 0.5), beta);
            return select(isLess(distance, beta), squared, plus(distance, -0.5 * beta));
        }));
}

Results klDivergence(Lowering& in) {
    const bool isLog = in.truth("log_target");
    const Tensor self = inWork(in.tensor("self"));
    return averaged(
        in, zipped({self, inWork(in.tensor("target"))}, self.element, [isLog](const Values& x) {
            if (isLog)
                return times(applied(Function::Exponential, x[1]), minus(x[1], x[0]));
            // The limit of t * log(t) at 0 is 0.
            const Scalar entropy = times(x[1], applied(Function::Logarithm, x[1]));
            const Scalar zero = constantLike(x[1], 0);
            const Scalar own = select(isEqual(x[1], zero), zero, entropy);
            return minus(own, times(x[1], x[0]));
        }));
}

/// Takes targets that are numbers of classes.
Results crossEntropy(Lowering& in) {
    if (!in.isNone("weight") || in.real("label_smoothing") != 0)
        throw NotRaised{"weights of classes and smoothed labels are not raised"};
    const Tensor target = in.tensor("target");
    if (isFloating(target.element))
        throw NotRaised{"targets that are distributions are not raised"};
    const Tensor input = in.reread(inWork(in.tensor("self")), cheapToReread);
    const std::size_t axis = input.rank() == 1 ? 0 : 1;
    const std::vector<std::size_t> axes{axis};
    const Tensor largest =
        in.builder().reduced(Reducer::Maximum, input, axes, true, in.node().name + "_max");
    const Tensor exponential = zipped({input, largest}, input.element, [](const Values& x) {
        return applied(Function::Exponential, minus(x[0], x[1]));
    });
    const Tensor sum = squeezed(
        in.builder().reduced(Reducer::Sum, exponential, axes, true, in.node().name + "_sum"), axis);
    const Tensor bound = squeezed(largest, axis);
    const auto ignored = static_cast<double>(in.integer("ignore_index"));
    const Index classes = input.shape[axis];
    const auto isCounted = [=](const Scalar& number) {
        return call(ScalarKind::Bool, Function::Not,
                    {isEqual(number, constantLike(number, ignored))});
    };
    const Tensor losses = tensorOf(input.element, target.shape, [=](const Position& at) {
        const Scalar number = converted(target.at(at), ScalarKind::Int64);
        Position from = at;
        const auto most = classes.bounds().high;
        from.insert(from.begin() + static_cast<std::ptrdiff_t>(axis),
                    Index::data(number, {0, most ? std::optional(*most - 1) : std::nullopt}));
        const Scalar loss =
            minus(plus(applied(Function::Logarithm, sum.at(at)), bound.at(at)), input.at(from));
        return select(isCounted(number), loss, constantLike(loss, 0));
    });
    if (averagingOf(in) != Averaging::Mean)
        return averaged(in, losses);
    // The mean is over those that are counted.
    const ScalarKind type = in.resultType();
    const Tensor counted = tensorOf(losses.element, losses.shape, [=](const Position& at) {
        return converted(isCounted(converted(target.at(at), ScalarKind::Int64)), losses.element);
    });
    const auto sums = in.builder().reduced(
        {{Reducer::Sum, losses, losses.element}, {Reducer::Sum, counted, losses.element}},
        allAxes(losses), false, in.node().name);
    return {zipped({sums[0], sums[1]}, type,
                   [=](const Values& x) { return converted(over(x[0], x[1]), type); })};
}

Results tripletMargin(Lowering& in) {
    const double order = in.real("p");
    const double epsilon = in.real("eps");
    const double margin = in.real("margin");
    if (in.truth("swap"))
        throw NotRaised{"swapped distances are not raised"};
    const Tensor anchor = inWork(in.tensor("anchor"));
    const auto distance = [&](const Tensor& other, const char* name) {
        const Tensor powers = zipped({anchor, other}, anchor.element, [=](const Values& x) {
            const Scalar difference = applied(Function::Absolute, plus(minus(x[0], x[1]), epsilon));
            return order == 2
                       ? times(difference, difference)
                       : applied(Function::Power, difference, constantLike(difference, order));
        });
        return mapped(in.builder().reduced(Reducer::Sum, powers, {anchor.rank() - 1}, false,
                                           in.node().name + name),
                      anchor.element, [=](const Scalar& x) {
                          return order == 2
                                     ? applied(Function::SquareRoot, x)
                                     : applied(Function::Power, x, constantLike(x, 1 / order));
                      });
    };
    const Tensor near = distance(inWork(in.tensor("positive")), "_positive");
    const Tensor far = distance(inWork(in.tensor("negative")), "_negative");
    return averaged(in, zipped({near, far}, anchor.element, [=](const Values& x) {
                        return atLeast(plus(minus(x[0], x[1]), margin), 0);
                    }));
}

constexpr std::array lossTable = {
    Rule{"aten.cross_entropy_loss.default", crossEntropy},
    Rule{"aten.kl_div.default", klDivergence},
    Rule{"aten.smooth_l1_loss.default", smoothL1},
    Rule{"aten.triplet_margin_loss.default", tripletMargin},
};

} // namespace

std::span<const Rule> lossRules() {
    return lossTable;
}

} // namespace kernelskill::engine::graph
