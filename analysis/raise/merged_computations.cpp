#include "analysis/raise/merged_computations.h"

#include "analysis/raise/live_steps.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/sources.h"
#include "analysis/raise/uses.h"
#include "analysis/raise/weights_alone.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

using AxisPlaces = std::map<std::uint32_t, Index>;

bool matchAxes(const std::vector<Axis>& axes, const std::vector<Axis>& others, AxisPlaces& places) {
    if (axes.size() != others.size())
        return false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (!(*axes[i].extent == *others[i].extent))
            return false;
        places.emplace(others[i].id, Index::of(axes[i]));
    }
    return true;
}

/// Whether a load of tensors at an element's own place, which both do, costs as much as the rest.
bool shareLoads(const Computation& left, const Computation& right) {
    std::set<const ScalarNode*> loads;
    const auto isOverAll = [&](const Scalar& node) {
        return node->kind == ScalarNode::Kind::Load &&
               std::ranges::all_of(left.reduced, [&](const Axis& axis) {
                   return Index::of(axis).isZero() || mentions(node, axis.id);
               });
    };
    for (const Scalar& node : nodesOf(rootsOf(left)))
        if (isOverAll(node))
            loads.insert(node.get());
    return std::ranges::any_of(nodesOf(rootsOf(right)),
                               [&](const Scalar& node) { return loads.contains(node.get()); });
}

class Merging {
public:
    Merging(Program program, const StoreLimits& limits)
        : program_(std::move(program)), limits_(limits) {}

    Program run() {
        interner_.intern(program_);
        while (mergeOne())
            program_ = inOrderOfNeeds(std::move(program_));
        joinEqualBuffers();
        return withoutDeadSteps(std::move(program_));
    }

private:
    bool mergeOne() {
        const Uses uses(program_);
        const std::vector<bool> alone = dependsOnWeightsAlone(program_);
        for (std::size_t i = 0; i < program_.steps.size(); ++i)
            for (std::size_t j = i + 1; j < program_.steps.size(); ++j) {
                if (uses.depends(j, i) || alone[i] != alone[j])
                    continue;
                if (auto both = merged(program_.steps[i], program_.steps[j])) {
                    program_.steps[i] = std::move(*both);
                    program_.steps.erase(program_.steps.begin() + static_cast<std::ptrdiff_t>(j));
                    return true;
                }
            }
        return false;
    }

    std::optional<Computation> merged(const Step& first, const Step& second) {
        const auto* left = std::get_if<Computation>(&first);
        const auto* right = std::get_if<Computation>(&second);
        if (left == nullptr || right == nullptr || left->scanned != right->scanned ||
            left->stores.size() + right->stores.size() > limits_.stores ||
            left->reduced.empty() != right->reduced.empty())
            return std::nullopt;
        AxisPlaces places;
        if (!matchAxes(left->axes, right->axes, places) ||
            !matchAxes(left->reduced, right->reduced, places) ||
            formOf(*left) == Form::Contraction || formOf(*right) == Form::Contraction)
            return std::nullopt;
        Computation moved = *right;
        rewriteRoots(moved, [&](const Scalar& root) { return interner_(relocated(root, places)); });
        if (!shareLoads(*left, moved))
            return std::nullopt;
        Computation both = *left;
        std::vector<std::size_t> numbers;
        for (const Reduction& reduction : moved.reductions) {
            const auto known = std::ranges::find_if(both.reductions, [&](const Reduction& own) {
                return own.reducer == reduction.reducer && own.element == reduction.element &&
                       own.type == reduction.type;
            });
            numbers.push_back(static_cast<std::size_t>(known - both.reductions.begin()));
            if (known == both.reductions.end())
                both.reductions.push_back(reduction);
        }
        for (const Store& store : moved.stores)
            both.stores.push_back(
                {store.buffer, relocated(store.position, places),
                 interner_(replaced(store.value, [&](const ScalarNode& node) -> Scalar {
                     return node.kind == ScalarNode::Kind::Accumulated
                                ? accumulated(node.type, numbers.at(node.reduction))
                                : nullptr;
                 }))});
        addSources(both, moved);
        return both;
    }

    /// Reads one of two buffers to which one computation stores the same at the same places.
    void joinEqualBuffers() {
        const Uses uses(program_);
        std::map<BufferId, BufferId> others;
        for (const Step& step : program_.steps) {
            const auto* computation = std::get_if<Computation>(&step);
            if (computation == nullptr)
                continue;
            for (const Store& store : computation->stores) {
                const Buffer& buffer = program_.buffers[store.buffer];
                if (buffer.role != Buffer::Role::Local || !uses.isReadPlainly(store.buffer) ||
                    !uses.writer(store.buffer))
                    continue;
                const auto isSame = [&](const Store& other) {
                    const Buffer& into = program_.buffers[other.buffer];
                    const bool isBetter =
                        into.role == Buffer::Role::Output || other.buffer < store.buffer;
                    return other.buffer != store.buffer && isBetter && other.value == store.value &&
                           into.element == buffer.element &&
                           samePosition(into.shape, buffer.shape) &&
                           samePosition(other.position, store.position) &&
                           uses.writer(other.buffer) && !others.contains(other.buffer);
                };
                const auto same = std::ranges::find_if(computation->stores, isSame);
                if (same != computation->stores.end())
                    others.emplace(store.buffer, same->buffer);
            }
        }
        for (Step& step : program_.steps)
            if (auto* computation = std::get_if<Computation>(&step))
                rewriteRoots(*computation, [&](const Scalar& root) {
                    return replaced(root, [&](const ScalarNode& node) -> Scalar {
                        const auto other = others.find(node.buffer);
                        return node.kind == ScalarNode::Kind::Load && other != others.end()
                                   ? load(node.type, other->second, node.position)
                                   : nullptr;
                    });
                });
    }

    Program program_;
    StoreLimits limits_;
    Interner interner_;
};

} // namespace

Program withMergedComputations(Program program, const StoreLimits& limits) {
    return Merging(std::move(program), limits).run();
}

} // namespace kernelskill::analysis::raise
