#include "engine/graph/kernels/vector_accesses.h"

#include "analysis/raise/cost.h"
#include "analysis/syntax/scalar_bytes.h"

#include <algorithm>
#include <set>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;
using analysis::raise::Store;

/// The loads that are done whatever the conditions of selects are.
void addEagerLoads(const Scalar& value, std::vector<const ScalarNode*>& loads,
                   std::set<const ScalarNode*>& seen) {
    if (!seen.insert(value.get()).second)
        return;
    if (value->kind == ScalarNode::Kind::Load)
        loads.push_back(value.get());
    const bool isSelect = value->kind == ScalarNode::Kind::Select;
    for (std::size_t i = 0; i < (isSelect ? 1 : value->arguments.size()); ++i)
        addEagerLoads(value->arguments[i], loads, seen);
}

} // namespace

std::vector<const ScalarNode*> eagerLoads(const std::vector<Scalar>& values) {
    std::vector<const ScalarNode*> loads;
    std::set<const ScalarNode*> seen;
    for (const Scalar& value : values)
        addEagerLoads(value, loads, seen);
    return loads;
}

std::vector<const ScalarNode*> eagerLoads(const Computation& computation) {
    std::vector<Scalar> values;
    for (const analysis::raise::Reduction& reduction : computation.reductions)
        values.push_back(reduction.element);
    for (const Store& store : computation.stores)
        values.push_back(store.value);
    return eagerLoads(values);
}

bool isAlignedAlong(const Index& index, const Axis& axis, std::int64_t width) {
    const Index rest = index - Index::of(axis);
    return !rest.mentions(axis.id) && std::ranges::all_of(rest.terms(), [&](const auto& entry) {
        return entry.second.factor % width == 0;
    });
}

std::optional<VectorAccesses> vectorAccesses(const Program& program,
                                             const Computation& computation) {
    if (!computation.reductions.empty() || computation.axes.empty())
        return std::nullopt;
    const Axis& inner = computation.axes.back();
    const auto flat = [&](analysis::raise::BufferId buffer, const std::vector<Index>& position) {
        return flattened(position, program.buffers.at(buffer).shape);
    };
    std::uint32_t widest = 1;
    for (const Store& store : computation.stores)
        widest = std::max(widest, analysis::scalarBytes(program.buffers.at(store.buffer).element));
    const std::vector<const ScalarNode*> loads = eagerLoads(computation);
    for (const ScalarNode* load : loads)
        widest = std::max(widest, analysis::scalarBytes(program.buffers.at(load->buffer).element));
    VectorAccesses accesses;
    accesses.width = 16 / widest;
    const auto width = static_cast<std::int64_t>(accesses.width);
    const bool isMultiple =
        remainder(*inner.extent, width).isZero() && inner.extent->constant() != 0;
    if (width < 2 || !isMultiple ||
        !std::ranges::all_of(
            computation.stores,
            [&](const Store& store) {
                return isAlignedAlong(flat(store.buffer, store.position), inner, width);
            }))
        return std::nullopt;
    for (const ScalarNode* load : loads) {
        const Index first = flat(load->buffer, load->position);
        const bool isKnown = std::ranges::any_of(accesses.loads, [&](const VectorAccess& each) {
            return each.buffer == load->buffer && each.first == first;
        });
        if (!isKnown && isAlignedAlong(first, inner, width))
            accesses.loads.push_back({load->buffer, first});
    }
    return accesses;
}

} // namespace kernelskill::engine::graph
