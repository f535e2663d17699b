#include "analysis/nest/phases.h"

#include <algorithm>
#include <span>

namespace kernelskill::analysis {

namespace {

using NodePath = std::vector<NestNodeId>;

bool isBlockBarrier(const Nest& nest, NestNodeId node) {
    const NestBarrier* barrier = nest.node(node).barrier();
    return barrier != nullptr && (barrier->kind == BarrierKind::SyncThreads ||
                                  barrier->kind == BarrierKind::SyncThreadsReduce ||
                                  barrier->kind == BarrierKind::GridSync);
}

NodePath pathTo(const Nest& nest, NestNodeId node) {
    NodePath path = around(nest, node);
    path.push_back(node);
    return path;
}

std::span<const NestNodeId> siblingsOf(const Nest& nest, NestNodeId node) {
    const NestNodeId parent = nest.node(node).parent;
    return parent == noId ? nest.roots : nest.node(parent).children;
}

/// A barrier among the siblings behind (or in front of) what leads to the node, from `depth` on.
bool hasBarrierBeside(const Nest& nest, const NodePath& path, std::size_t depth, bool behind) {
    for (std::size_t i = depth; i < path.size(); ++i) {
        const auto siblings = siblingsOf(nest, path[i]);
        const auto own = std::ranges::find(siblings, path[i]);
        const auto isBarrier = [&](NestNodeId id) { return isBlockBarrier(nest, id); };
        if (behind ? std::any_of(own, siblings.end(), isBarrier)
                   : std::any_of(siblings.begin(), own, isBarrier))
            return true;
    }
    return false;
}

} // namespace

bool isSeparatedByBarrier(const Nest& nest, NestNodeId first, NestNodeId second) {
    const NodePath a = pathTo(nest, first);
    const NodePath b = pathTo(nest, second);
    std::size_t common = 0;
    while (common < a.size() && common < b.size() && a[common] == b[common])
        ++common;
    if (common >= a.size() || common >= b.size())
        return false; // One node, or one within the other.
    const auto siblings = siblingsOf(nest, a[common]);
    const auto begin = std::ranges::find(siblings, a[common]);
    const auto end = std::ranges::find(siblings, b[common]);
    const bool forwards =
        begin < end && (std::any_of(
                            begin, end, [&](NestNodeId id) { return isBlockBarrier(nest, id); }) ||
                        hasBarrierBeside(nest, a, common + 1, true) ||
                        hasBarrierBeside(nest, b, common + 1, false));
    if (!forwards)
        return false;
    // From the end of a round to the next one, of the innermost loop around both.
    for (std::size_t depth = common; depth-- > 0;)
        if (nest.node(a[depth]).loop() != nullptr)
            return hasBarrierBeside(nest, b, depth + 1, true) ||
                   hasBarrierBeside(nest, a, depth + 1, false);
    return true;
}

bool areRoundsSeparated(const Nest& nest, NestNodeId loop, NestNodeId first, NestNodeId second) {
    const NodePath a = pathTo(nest, first);
    const NodePath b = pathTo(nest, second);
    const auto depthIn = [&](const NodePath& path) {
        return static_cast<std::size_t>(std::ranges::find(path, loop) - path.begin()) + 1;
    };
    const auto isFollowed = [&](const NodePath& one, const NodePath& other) {
        return hasBarrierBeside(nest, one, depthIn(one), true) ||
               hasBarrierBeside(nest, other, depthIn(other), false);
    };
    return isFollowed(a, b) && isFollowed(b, a);
}

} // namespace kernelskill::analysis
