#include "engine/graph/simplify/guarded_sum.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/rewrite.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

namespace raise = analysis::raise;
using raise::Function;
using raise::Index;
using raise::Scalar;
using raise::ScalarNode;

void collectConditions(const Scalar& condition, std::vector<Scalar>& all) {
    if (condition->kind == ScalarNode::Kind::Call && condition->function == Function::And)
        for (const Scalar& argument : condition->arguments)
            collectConditions(argument, all);
    else
        all.push_back(condition);
}

/// axis = step * loaded + shift for the loaded elements.
struct Change {
    std::size_t component = 0; ///< Number of the component of the load's position.
    std::int64_t step = 1;
    Index shift;
};

/// Whether a condition says that the remainder of `left` by `by` is 0.
bool saysMultiple(const std::vector<Scalar>& conditions, const Index& left, const Index& by) {
    const Index rest = remainder(left, by);
    return std::ranges::any_of(conditions, [&](const Scalar& condition) {
        if (condition->function != Function::Equal || condition->arguments.size() != 2)
            return false;
        const Scalar& position = condition->arguments[0];
        return position->kind == ScalarNode::Kind::Position && position->index == rest &&
               raise::numberOf(condition->arguments[1]) == 0;
    });
}

std::optional<Change> changeOf(const GuardedLoad& guarded, const raise::Axis& axis) {
    std::optional<Change> change;
    const Index own = Index::of(axis);
    for (std::size_t i = 0; i < guarded.load->position.size(); ++i) {
        const Index& at = guarded.load->position[i];
        if (!at.mentions(axis.id))
            continue;
        if (change)
            return std::nullopt;
        if (const Index rest = at - own; !rest.mentions(axis.id)) {
            change = Change{i, 1, Index(0) - rest};
            continue;
        }
        // rest + (axis + inner) / step, where the guard asks for a multiple.
        for (const Index::Monomial& monomial : at.monomials()) {
            if (monomial.factor != 1 || monomial.atoms.size() != 1 ||
                monomial.atoms[0]->kind != Index::Atom::Kind::Quotient)
                continue;
            const Index::Atom& atom = *monomial.atoms[0];
            const Index inner = *atom.left - own;
            const Index rest = at - Index::of(monomial.atoms[0]);
            const auto step = atom.right->constant();
            if (step && *step > 1 && !inner.mentions(axis.id) && !rest.mentions(axis.id) &&
                saysMultiple(guarded.conditions, *atom.left, *atom.right))
                change = Change{i, *step, Index(0) - rest * *step - inner};
        }
        if (!change)
            return std::nullopt;
    }
    return change;
}

} // namespace

std::optional<GuardedLoad> guardedLoad(const Scalar& value) {
    GuardedLoad guarded;
    Scalar inner = value;
    while (inner->kind == ScalarNode::Kind::Select && raise::numberOf(inner->arguments[2]) == 0) {
        collectConditions(inner->arguments[0], guarded.conditions);
        inner = inner->arguments[1];
    }
    if (inner->kind != ScalarNode::Kind::Load)
        return std::nullopt;
    guarded.load = inner;
    return guarded;
}

Scalar valueOf(const GuardedLoad& guarded) {
    Scalar condition = raise::integerNumber(analysis::ScalarKind::Bool, 1);
    for (const Scalar& each : guarded.conditions)
        condition = raise::call(analysis::ScalarKind::Bool, Function::And, {condition, each});
    return raise::select(condition, guarded.load, raise::number(guarded.load->type, 0));
}

std::optional<AxisSum> overLoaded(const Scalar& value, const raise::Axis& axis,
                                  raise::Program& program) {
    const auto guarded = guardedLoad(value);
    if (!guarded)
        return std::nullopt;
    const auto change = changeOf(*guarded, axis);
    if (!change)
        return std::nullopt;
    // Elements that are loaded are inside of their buffer, whatever the guard says.
    const Index extent = program.buffers[guarded->load->buffer].shape[change->component];
    constexpr double most = 1.25;
    if (raise::estimated(extent) > most * raise::estimated(*axis.extent))
        return std::nullopt;
    const raise::Axis loaded{program.axes++, axis.name, std::make_shared<const Index>(extent)};
    const Index place = Index::of(loaded) * change->step + change->shift;
    const std::map<std::uint32_t, Index> places{{axis.id, place}};
    GuardedLoad changed;
    changed.load = raise::relocated(guarded->load, places);
    changed.conditions.push_back(raise::isInside(place, *axis.extent));
    for (const Scalar& condition : guarded->conditions)
        changed.conditions.push_back(raise::relocated(condition, places));
    const Scalar result = withDecidedGuards(valueOf(changed));
    return AxisSum{result, {loaded}};
}

Scalar withDecidedGuards(const Scalar& value) {
    const auto decided = [](const ScalarNode& node) -> std::optional<bool> {
        const bool compares =
            node.kind == ScalarNode::Kind::Call &&
            (node.function == Function::Less || node.function == Function::LessOrEqual);
        if (!compares)
            return std::nullopt;
        raise::Bounds sides[2];
        for (std::size_t i = 0; i < 2; ++i) {
            const Scalar& side = node.arguments[i];
            if (side->kind == ScalarNode::Kind::Position)
                sides[i] = side->index.bounds();
            else if (side->kind == ScalarNode::Kind::Number && !raise::isFloating(side->type))
                sides[i] = {side->integer, side->integer};
            else
                return std::nullopt;
        }
        const bool isLess = node.function == Function::Less;
        if (sides[0].high && sides[1].low &&
            (isLess ? *sides[0].high < *sides[1].low : *sides[0].high <= *sides[1].low))
            return true;
        if (sides[0].low && sides[1].high &&
            (isLess ? *sides[0].low >= *sides[1].high : *sides[0].low > *sides[1].high))
            return false;
        return std::nullopt;
    };
    raise::NodeReplacements replacements;
    for (const Scalar& node : raise::nodesOf({value}))
        if (const auto known = decided(*node))
            replacements.emplace(node.get(),
                                 raise::integerNumber(analysis::ScalarKind::Bool, *known ? 1 : 0));
    return raise::withNodes(value, replacements);
}

} // namespace kernelskill::engine::graph
