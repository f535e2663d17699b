#include "analysis/raise/intervals.h"

#include "analysis/raise/uses.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

namespace kernelskill::analysis::raise {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Ends that a float does not hold are moved outwards by more than functions err.
Interval outward(Interval interval) {
    const auto isExact = [](double value) {
        return std::isinf(value) || static_cast<double>(static_cast<float>(value)) == value;
    };
    constexpr double error = 1e-6;
    if (!isExact(interval.low))
        interval.low -= std::abs(interval.low) * error;
    if (!isExact(interval.high))
        interval.high += std::abs(interval.high) * error;
    return interval;
}

Interval hull(std::initializer_list<double> values) {
    return {std::min(values), std::max(values)};
}

Interval added(const Interval& left, const Interval& right) {
    return {left.low + right.low, left.high + right.high};
}

Interval multiplied(const Interval& left, const Interval& right) {
    const auto product = [](double one, double other) {
        return one == 0 || other == 0 ? 0 : one * other;
    };
    return hull({product(left.low, right.low), product(left.low, right.high),
                 product(left.high, right.low), product(left.high, right.high)});
}

Interval divided(const Interval& left, const Interval& right) {
    if (right.low <= 0 && right.high >= 0)
        return {};
    return multiplied(left, {1 / right.high, 1 / right.low});
}

Interval absolute(const Interval& of) {
    if (of.low >= 0)
        return of;
    return of.high <= 0 ? Interval{-of.high, -of.low} : Interval{0, std::max(-of.low, of.high)};
}

/// The interval of a function that never falls, cut to the results that it can have.
template <typename F>
Interval rising(const Interval& of, F function, Interval most = {}) {
    const double low = function(of.low);
    const double high = function(of.high);
    return {std::isnan(low) ? most.low : std::max(low, most.low),
            std::isnan(high) ? most.high : std::min(high, most.high)};
}

Interval truth(bool canBeFalse, bool canBeTrue) {
    return {canBeFalse ? 0.0 : 1.0, canBeTrue ? 1.0 : 0.0};
}

} // namespace

Intervals::Intervals(const Program& program) : buffers_(program.buffers.size()) {
    std::set<BufferId> written;
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].element == ScalarKind::Bool)
            buffers_[i] = {0, 1};
    for (const Step& step : program.steps) {
        const auto* computation = std::get_if<Computation>(&step);
        if (computation == nullptr)
            continue;
        ScalarIntervals intervals(
            [this](BufferId buffer) -> const Interval& { return buffers_.at(buffer); },
            *computation);
        for (const Store& store : computation->stores) {
            const Interval value = intervals.of(store.value);
            Interval& all = buffers_[store.buffer];
            all = written.insert(store.buffer).second
                      ? value
                      : Interval{std::min(all.low, value.low), std::max(all.high, value.high),
                                 all.dividesByZero || value.dividesByZero};
        }
    }
}

Interval ScalarIntervals::of(const Scalar& value) {
    if (const auto known = known_.find(value.get()); known != known_.end())
        return known->second.interval;
    Interval interval = made(*value);
    for (const Scalar& argument : value->arguments)
        interval.dividesByZero = interval.dividesByZero || of(argument).dividesByZero;
    if (value->kind == ScalarNode::Kind::Call && value->function == Function::Divide) {
        const Interval divisor = of(value->arguments[1]);
        interval.dividesByZero = interval.dividesByZero || (divisor.low == 0 && divisor.high == 0);
    }
    // Sums of ends that are not bound have none.
    if (std::isnan(interval.low))
        interval.low = -infinity;
    if (std::isnan(interval.high))
        interval.high = infinity;
    known_.emplace(value.get(), Known{value, interval});
    return interval;
}

Interval ScalarIntervals::made(const ScalarNode& node) {
    switch (node.kind) {
    case ScalarNode::Kind::Number: {
        const double value =
            isFloating(node.type) ? node.number : static_cast<double>(node.integer);
        return std::isnan(value) ? Interval{} : Interval{value, value};
    }
    case ScalarNode::Kind::Position: {
        const Bounds bounds = node.index.bounds();
        return {bounds.low ? static_cast<double>(*bounds.low) : -infinity,
                bounds.high ? static_cast<double>(*bounds.high) : infinity};
    }
    case ScalarNode::Kind::Load:
        return buffers_(node.buffer);
    case ScalarNode::Kind::Accumulated: {
        const Reduction& reduction = computation_.reductions.at(node.reduction);
        Interval interval = ofReduction(reduction);
        interval.dividesByZero = of(reduction.element).dividesByZero;
        return interval;
    }
    case ScalarNode::Kind::Select: {
        const Interval condition = of(node.arguments[0]);
        const Interval then = of(node.arguments[1]);
        const Interval otherwise = of(node.arguments[2]);
        if (condition.low > 0)
            return then;
        if (condition.high < 1)
            return otherwise;
        return {std::min(then.low, otherwise.low), std::max(then.high, otherwise.high)};
    }
    case ScalarNode::Kind::Call:
        return outward(ofCall(node));
    }
    return {};
}

Interval ScalarIntervals::ofCall(const ScalarNode& node) {
    const Interval x = of(node.arguments[0]);
    const Interval y = node.arguments.size() > 1 ? of(node.arguments[1]) : Interval{};
    const bool isSame = node.arguments.size() > 1 && node.arguments[0] == node.arguments[1];
    switch (node.function) {
    case Function::Add:
        return added(x, y);
    case Function::Subtract:
        return added(x, {-y.high, -y.low});
    case Function::Multiply:
        return isSame ? multiplied(absolute(x), absolute(x)) : multiplied(x, y);
    case Function::Divide:
        return isFloating(node.type) ? divided(x, y) : Interval{};
    case Function::Negate:
        return {-x.high, -x.low};
    case Function::Absolute:
        return absolute(x);
    case Function::Exponential:
        return rising(x, [](double value) { return std::exp(value); }, {0, infinity});
    case Function::ExponentialMinusOne:
        return rising(x, [](double value) { return std::expm1(value); }, {-1, infinity});
    case Function::Logarithm:
        return rising(x, [](double value) { return std::log(value); });
    case Function::LogarithmOfOnePlus:
        return rising(x, [](double value) { return std::log1p(value); });
    case Function::SquareRoot:
        return rising(x, [](double value) { return std::sqrt(value); }, {0, infinity});
    case Function::ReciprocalSquareRoot:
        return {0, infinity};
    case Function::Tanh:
        return rising(x, [](double value) { return std::tanh(value); }, {-1, 1});
    case Function::ErrorFunction:
        return rising(x, [](double value) { return std::erf(value); }, {-1, 1});
    case Function::Minimum:
        return {std::min(x.low, y.low), std::min(x.high, y.high)};
    case Function::Maximum:
        return {std::max(x.low, y.low), std::max(x.high, y.high)};
    case Function::Less:
        return truth(x.high >= y.low, x.low < y.high);
    case Function::LessOrEqual:
        return truth(x.high > y.low, x.low <= y.high);
    case Function::Equal:
        return truth(x.low != x.high || y.low != y.high || x.low != y.low,
                     x.low <= y.high && y.low <= x.high);
    case Function::And:
        return truth(x.low < 1 || y.low < 1, x.high > 0 && y.high > 0);
    case Function::Not:
        return {1 - x.high, 1 - x.low};
    case Function::Convert: {
        if (node.type == ScalarKind::Bool)
            return truth(x.low <= 0 && x.high >= 0, x.low != 0 || x.high != 0);
        if (isFloating(node.type))
            return x;
        return rising(x, [](double value) { return std::trunc(value); });
    }
    case Function::Power:
        return {};
    }
    return {};
}

Interval ScalarIntervals::ofReduction(const Reduction& reduction) {
    const Interval element = of(reduction.element);
    bool isEmpty = false;
    double count = 1;
    for (const Axis& axis : computation_.reduced) {
        const Bounds extent = axis.extent->bounds();
        isEmpty = isEmpty || !extent.low || *extent.low < 1;
        count *= extent.high ? static_cast<double>(*extent.high) : infinity;
    }
    if (computation_.scanned)
        count = infinity;
    switch (reduction.reducer) {
    case Reducer::Sum: {
        // If the count is not known, the sum may be of fewer elements, down to none or one.
        const bool isExact = !computation_.scanned &&
                             std::ranges::all_of(computation_.reduced, [](const Axis& axis) {
                                 return axis.extent->constant().has_value();
                             });
        const Interval most = outward(multiplied(element, {count, count}));
        if (isExact)
            return {most.low - std::abs(most.low) * 1e-3, most.high + std::abs(most.high) * 1e-3};
        return {element.low >= 0 ? 0 : -infinity, element.high <= 0 ? 0 : infinity};
    }
    case Reducer::Maximum:
        return {isEmpty ? -infinity : element.low, element.high};
    case Reducer::Minimum:
        return {element.low, isEmpty ? infinity : element.high};
    case Reducer::FirstMaximum:
    case Reducer::FirstMinimum:
        return {0, std::max(count - 1, 0.0)};
    case Reducer::Product:
        return {};
    }
    return {};
}

} // namespace kernelskill::analysis::raise
