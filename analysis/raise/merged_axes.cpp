#include "analysis/raise/merged_axes.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

/// Whether the axis stands in the dividend of a quotient or remainder, or in an integer that is
/// read.
bool isCutIn(const Index& index, std::uint32_t axis) {
    return std::ranges::any_of(index.terms(), [&](const auto& entry) {
        return std::ranges::any_of(entry.second.atoms, [&](const Index::AtomRef& atom) {
            return atom->kind != Index::Atom::Kind::Axis && Index::of(atom).mentions(axis);
        });
    });
}

/// Whether no address and no condition takes the axis apart.
bool isWhole(const Program& program, const Computation& computation, std::uint32_t axis) {
    bool isWhole = true;
    const auto look = [&](BufferId buffer, const std::vector<Index>& position) {
        isWhole = isWhole && !isCutIn(flattened(position, program.buffers.at(buffer).shape), axis);
    };
    forEachNode(computation, [&](const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::Load)
            look(node.buffer, node.position);
        if (node.kind == ScalarNode::Kind::Position)
            isWhole = isWhole && !isCutIn(node.index, axis);
    });
    for (const Store& store : computation.stores)
        look(store.buffer, store.position);
    return isWhole;
}

/// Makes axes `at` and `at + 1` of the list one, if that keeps it whole.
bool merge(const Program& program, Computation& computation, std::vector<Axis> Computation::* list,
           std::size_t at, std::uint32_t& axes) {
    const Axis outer = (computation.*list)[at];
    const Axis inner = (computation.*list)[at + 1];
    const Axis both{axes, outer.name, std::make_shared<const Index>(*outer.extent * *inner.extent)};
    const Index index = Index::of(both);
    Computation candidate = substituted(computation, {{outer.id, quotient(index, *inner.extent)},
                                                      {inner.id, remainder(index, *inner.extent)}});
    auto& candidates = candidate.*list;
    candidates[at] = both;
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    if (!isWhole(program, candidate, both.id))
        return false;
    if (list == &Computation::axes && candidate.scanned && *candidate.scanned > at)
        --*candidate.scanned;
    ++axes;
    computation = std::move(candidate);
    return true;
}

void mergeAll(const Program& program, Computation& computation,
              std::vector<Axis> Computation::* list, std::uint32_t& axes) {
    const bool isOuter = list == &Computation::axes;
    std::size_t at = 0;
    while (at + 1 < (computation.*list).size()) {
        const bool isOfScan = isOuter && computation.scanned &&
                              (*computation.scanned == at || *computation.scanned == at + 1);
        // The merged axis is tried with the next one.
        if (isOfScan || !merge(program, computation, list, at, axes))
            ++at;
    }
}

void dropUnitAxes(Computation& computation, std::vector<Axis> Computation::* list) {
    auto& all = computation.*list;
    const bool isOuter = list == &Computation::axes;
    for (std::size_t i = all.size(); i-- > 0;) {
        if (all[i].extent->constant() != 1 || (isOuter && computation.scanned == i))
            continue;
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        if (isOuter && computation.scanned && *computation.scanned > i)
            --*computation.scanned;
    }
}

} // namespace

void forEachNode(const Computation& computation,
                 const std::function<void(const ScalarNode&)>& visit) {
    for (const Reduction& reduction : computation.reductions)
        forEachNode(reduction.element, visit);
    for (const Store& store : computation.stores)
        forEachNode(store.value, visit);
}

Computation substituted(const Computation& computation,
                        const std::map<std::uint32_t, Index>& axes) {
    Computation result = computation;
    for (Reduction& reduction : result.reductions)
        reduction.element = substituted(reduction.element, axes);
    for (Store& store : result.stores) {
        for (Index& at : store.position)
            at = at.substituted(axes);
        store.value = substituted(store.value, axes);
    }
    return result;
}

Computation withMergedAxes(const Program& program, Computation computation, std::uint32_t& axes) {
    for (const auto list : {&Computation::axes, &Computation::reduced}) {
        dropUnitAxes(computation, list);
        mergeAll(program, computation, list, axes);
    }
    return computation;
}

} // namespace kernelskill::analysis::raise
