#include "skills/schedule/distinct_stores.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/schedule/apart_by_races.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

Gated<void> requireDistinct(const SkillContext& context, const NestAccess& store,
                            const NestAccess& other) {
    const Nest& nest = context.shared().nest();
    const NestArray& array = nest.arrays[store.array];
    const NestArray* second = other.array == noId ? nullptr : &nest.arrays[other.array];
    if (second != nullptr && (isThreadsOwn(*second) || !mayOverlap(array, *second)))
        return {};
    if (second == nullptr || second->isLoaded || second->frame != 0 || array.isLoaded ||
        array.frame != 0)
        return refuse("may-alias",
                      fmt::format("line {} may store what line {} uses",
                                  lineNumber(context, nest.node(store.node).span.begin),
                                  lineNumber(context, nest.node(other.node).span.begin)));
    if (context.kernel.launches.empty() && areApartByRaces(nest, store, other))
        return {};
    return requireDistinctMemory(context, array.variable, second->variable);
}

} // namespace

Gated<void> requireDistinctStores(const SkillContext& context, NestNodeId root,
                                  const CheckedStore& isChecked) {
    const Nest& nest = context.shared().nest();
    for (const NestAccess& store : nest.accesses) {
        if (!isInside(nest, root, store.node) || store.kind == AccessKind::Read ||
            isThreadsOwn(nest, store) || (isChecked && isChecked(store)))
            continue;
        for (const NestAccess& other : nest.accesses) {
            const bool areAtomics =
                store.kind == AccessKind::Atomic && other.kind == AccessKind::Atomic;
            if (isInside(nest, root, other.node) && other.array != store.array && !areAtomics)
                KERNELSKILL_CHECK(requireDistinct(context, store, other));
        }
    }
    return {};
}

} // namespace kernelskill::skills
