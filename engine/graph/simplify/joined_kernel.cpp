#include "engine/graph/simplify/joined_kernel.h"

#include "analysis/raise/rewrite.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

namespace raise = analysis::raise;
using raise::Axis;
using raise::Function;
using raise::Index;
using raise::Scalar;
using raise::ScalarNode;

/// The numbers that are sums of windowStep * window + kernelStep * kernel, divided by `divisor`.
struct Steps {
    std::int64_t window = 1;
    std::int64_t kernel = 1;
    std::int64_t divisor = 1;
    std::int64_t constant = 0; ///< Added before the division.
    Index rest;                ///< The part that is added to the result.
};

/// The factor of the axis in a sum of terms; nullopt if it stands elsewhere too.
std::optional<std::int64_t> factorOf(const Index& index, const Axis& axis) {
    std::optional<std::int64_t> factor;
    for (const Index::Monomial& monomial : index.monomials())
        if (monomial.atoms.size() == 1 && monomial.atoms[0]->kind == Index::Atom::Kind::Axis &&
            monomial.atoms[0]->axis.id == axis.id)
            factor = monomial.factor;
    if (factor && (index - Index::of(axis) * Index(*factor)).mentions(axis.id))
        return std::nullopt;
    return factor;
}

std::optional<Steps> stepsOf(const Index& at, const Axis& window, const Axis& kernel) {
    Steps steps;
    Index inner = at;
    for (const Index::Monomial& monomial : at.monomials()) {
        if (monomial.factor != 1 || monomial.atoms.size() != 1 ||
            monomial.atoms[0]->kind != Index::Atom::Kind::Quotient ||
            !monomial.atoms[0]->left->mentions(window.id))
            continue;
        const auto divisor = monomial.atoms[0]->right->constant();
        if (!divisor || *divisor < 2)
            return std::nullopt;
        steps.divisor = *divisor;
        inner = *monomial.atoms[0]->left;
        steps.rest = at - Index::of(monomial.atoms[0]);
    }
    const auto ofWindow = factorOf(inner, window);
    const auto ofKernel = factorOf(inner, kernel);
    if (!ofWindow || !ofKernel || *ofWindow < 1 || steps.rest.mentions(window.id) ||
        steps.rest.mentions(kernel.id) || (steps.divisor > 1 && *ofWindow != 1))
        return std::nullopt;
    steps.window = *ofWindow;
    steps.kernel = *ofKernel;
    const Index others =
        inner - Index::of(window) * Index(*ofWindow) - Index::of(kernel) * Index(*ofKernel);
    steps.rest = steps.rest + quotient(others, steps.divisor);
    const auto constant = remainder(others, steps.divisor).constant();
    if (!constant)
        return std::nullopt;
    steps.constant = *constant;
    return steps;
}

/// Quotients that are rounded down and up.
std::int64_t floorOf(std::int64_t value, std::int64_t by) {
    return value / by - (value % by < 0 ? 1 : 0);
}
std::int64_t ceilingOf(std::int64_t value, std::int64_t by) {
    return -floorOf(-value, by);
}

/// The condition with `place` for `at`, of which it is a bound; nullopt if it is none.
std::optional<Scalar> moved(const Scalar& condition, const Index& at, const Index& place) {
    if (condition->kind != ScalarNode::Kind::Call ||
        (condition->function != Function::Less && condition->function != Function::LessOrEqual))
        return std::nullopt;
    bool isBound = true;
    const Scalar result = raise::withIndices(condition, [&](const Index& index) {
        if (index.constant())
            return index;
        const auto distance = (index - at).constant();
        isBound = isBound && distance.has_value();
        return place + Index(distance.value_or(0));
    });
    return isBound ? std::optional(result) : std::nullopt;
}

/// Whether the condition says that the division is exact.
bool saysExact(const Scalar& condition) {
    return raise::isCall(condition, Function::Equal) &&
           condition->arguments[0]->kind == ScalarNode::Kind::Position &&
           raise::numberOf(condition->arguments[1]) == 0;
}

std::optional<JoinedKernel> joined(const GuardedLoad& input, std::size_t component,
                                   const Axis& window, const Axis& kernel, const Steps& steps,
                                   raise::Program& program) {
    const auto windowExtent = window.extent->constant();
    const auto kernelExtent = kernel.extent->constant();
    if (!windowExtent || !kernelExtent || *windowExtent < 1 || *kernelExtent < 1)
        return std::nullopt;
    const std::int64_t ofKernel = steps.kernel * (*kernelExtent - 1);
    const std::int64_t low =
        ceilingOf(std::min<std::int64_t>(0, ofKernel) + steps.constant, steps.divisor);
    const std::int64_t high = floorOf(steps.window * (*windowExtent - 1) +
                                          std::max<std::int64_t>(0, ofKernel) + steps.constant,
                                      steps.divisor);
    if (high < low)
        return std::nullopt;
    JoinedKernel result;
    result.kernel = kernel;
    result.wide = {program.axes++, kernel.name, std::make_shared<const Index>(high - low + 1)};
    const Index wide = Index::of(result.wide) + Index(low);
    const Index place = steps.rest + wide;
    const Index& at = input.load->position[component];
    const auto isMoved = [&](const Scalar& value) {
        return raise::mentions(value, window.id) || raise::mentions(value, kernel.id);
    };
    bool isExact = steps.divisor == 1;
    for (const Scalar& condition : input.conditions) {
        if (!isMoved(condition)) {
            result.input.conditions.push_back(condition);
        } else if (saysExact(condition)) {
            isExact = true;
        } else if (auto bound = moved(condition, at, place)) {
            result.input.conditions.push_back(*std::move(bound));
        } else {
            return std::nullopt;
        }
    }
    std::vector<Index> position = input.load->position;
    position[component] = place;
    result.input.load = raise::load(input.load->type, input.load->buffer, position);
    result.input.conditions.push_back(
        raise::isInside(place, program.buffers[input.load->buffer].shape[component]));
    const bool isElsewhere = isMoved(result.input.load);
    if (!isExact || isElsewhere)
        return std::nullopt;
    // steps.window times the place in the window.
    const Index inWindow = wide * Index(steps.divisor) - Index(steps.constant) -
                           Index::of(kernel) * Index(steps.kernel);
    result.condition =
        raise::call(analysis::ScalarKind::Bool, Function::And,
                    {raise::call(analysis::ScalarKind::Bool, Function::Equal,
                                 {raise::positionValue(analysis::ScalarKind::Int64,
                                                       remainder(inWindow, steps.window)),
                                  raise::integerNumber(analysis::ScalarKind::Int64, 0)}),
                     raise::isInside(quotient(inWindow, steps.window), *window.extent)});
    return result;
}

} // namespace

std::optional<JoinedKernel> joinedKernel(const GuardedLoad& input, const Axis& window,
                                         const std::vector<Axis>& kernels,
                                         raise::Program& program) {
    std::optional<std::size_t> component;
    for (std::size_t i = 0; i < input.load->position.size(); ++i)
        if (input.load->position[i].mentions(window.id)) {
            if (component)
                return std::nullopt;
            component = i;
        }
    if (!component)
        return std::nullopt;
    for (const Axis& kernel : kernels)
        if (const auto steps = stepsOf(input.load->position[*component], window, kernel))
            if (auto result = joined(input, *component, window, kernel, *steps, program))
                return result;
    return std::nullopt;
}

} // namespace kernelskill::engine::graph
