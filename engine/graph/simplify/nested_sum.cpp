#include "engine/graph/simplify/nested_sum.h"

#include "analysis/raise/affine.h"
#include "analysis/raise/inverse.h"
#include "analysis/raise/rewrite.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace kernelskill::engine::graph {

namespace raise = analysis::raise;
using raise::Axis;
using raise::Computation;
using raise::Index;
using raise::Scalar;
using raise::ScalarNode;

namespace {

bool standsIn(const Scalar& value, const Axis& axis) {
    return value != nullptr && raise::mentions(value, axis.id);
}

/// The one load of the buffer in the sum's terms; null if the buffer is read elsewhere too.
Scalar onlyLoad(const Computation& outer, raise::BufferId buffer) {
    Scalar load;
    for (const Scalar& node : raise::nodesOf(raise::rootsOf(outer)))
        if (node->kind == ScalarNode::Kind::Load && node->buffer == buffer) {
            if (load != nullptr)
                return nullptr;
            load = node;
        }
    for (const raise::Store& store : outer.stores)
        raise::forEachRead(store.value, [&](raise::BufferId read, bool) {
            if (read == buffer)
                load = nullptr;
        });
    return load;
}

/// The axes r by the factor that they stand in; false if one stands in both, or in none.
bool divideAxes(NestedSum& nested) {
    nested.own.assign(2, {});
    for (const Axis& axis : nested.outer.reduced) {
        if (Index::of(axis).isZero())
            continue;
        const bool inLeft = standsIn(nested.factors[0], axis);
        const bool inRight = standsIn(nested.factors[1], axis);
        if (inLeft == inRight)
            return false;
        nested.own[inRight ? 1 : 0].push_back(axis);
    }
    // A scale goes with one of the factors.
    const auto runsOver = [&](const std::vector<Axis>& axes) {
        return std::ranges::any_of(axes,
                                   [&](const Axis& axis) { return standsIn(nested.scale, axis); });
    };
    return (!nested.own[0].empty() || !nested.own[1].empty()) &&
           !(runsOver(nested.own[0]) && runsOver(nested.own[1]));
}

} // namespace

bool isSum(const Computation& computation) {
    return computation.reductions.size() == 1 && !computation.scanned &&
           computation.reductions[0].reducer == raise::Reducer::Sum &&
           raise::isFloating(computation.reductions[0].type);
}

bool isBetweenSums(const raise::Program& program, raise::BufferId buffer, const raise::Uses& uses) {
    const auto place = uses.writer(buffer);
    if (program.buffers[buffer].role != raise::Buffer::Role::Local || !place ||
        uses.readers(buffer).size() != 1 || !uses.isReadPlainly(buffer))
        return false;
    const auto& inner = std::get<Computation>(program.steps[place->step]);
    return isSum(inner) && inner.stores.size() == 1 &&
           raise::formOf(inner) == raise::Form::Contraction;
}

std::optional<NestedSum> nestedSum(raise::Program& program, std::size_t step,
                                   raise::BufferId buffer, const raise::Uses& uses) {
    if (!isBetweenSums(program, buffer, uses))
        return std::nullopt;
    const auto place = uses.writer(buffer);
    NestedSum nested{buffer,
                     std::get<Computation>(program.steps[step]),
                     std::get<Computation>(program.steps[place->step]),
                     {},
                     {},
                     {},
                     {}};
    raise::Interner interner;
    interner.intern(nested.outer);
    interner.intern(nested.inner);
    const Scalar load = onlyLoad(nested.outer, buffer);
    const raise::Store& store = nested.inner.stores[0];
    const Scalar sum = interner(raise::accumulated(nested.inner.reductions[0].type, 0));
    const auto outside = load == nullptr
                             ? std::nullopt
                             : raise::affineIn(nested.outer.reductions[0].element, load.get());
    const auto inside = raise::affineIn(store.value, sum.get());
    if (!outside || !inside)
        return std::nullopt;
    const std::vector<Axis> components =
        raise::newAxes(program, program.buffers[buffer].shape, "p");
    const raise::Inverse inverse = raise::inverseOf(store.position, nested.inner.axes, components);
    if (!inverse.isWhole)
        return std::nullopt;
    std::map<std::uint32_t, Index> read;
    for (std::size_t i = 0; i < components.size(); ++i)
        read.emplace(components[i].id, load->position[i]);
    std::map<std::uint32_t, Index> places;
    for (const auto& [axis, index] : inverse.axes)
        places.emplace(axis, raise::joined(index.substituted(read)));
    const auto moved = [&](const Scalar& value) {
        return value == nullptr ? value : raise::relocated(value, places);
    };
    for (const Scalar& factor : nested.inner.reductions[0].element->arguments)
        nested.factors.push_back(moved(factor));
    nested.scale = raise::timesOrOne(outside->scale, moved(inside->scale));
    nested.offset = outside->offset;
    if (inside->offset != nullptr)
        nested.offset = raise::plusOrZero(nested.offset,
                                          raise::timesOrOne(outside->scale, moved(inside->offset)));
    return divideAxes(nested) ? std::optional(std::move(nested)) : std::nullopt;
}

} // namespace kernelskill::engine::graph
