#include "skills/schedule/threads_apart.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

Gated<void> requireKnownEffects(const SkillContext& context, const NestNode& node) {
    const NestStatement* statement = node.computation();
    if (statement != nullptr && !statement->opaque.empty())
        return refuse(
            "unknown-effects",
            fmt::format("line {}: {}", lineNumber(context, node.span.begin), statement->opaque));
    return {};
}

} // namespace

Gated<void> requireKnownEffects(const SkillContext& context) {
    for (const NestNode& node : context.shared().nest().nodes)
        KERNELSKILL_CHECK(requireKnownEffects(context, node));
    return {};
}

Gated<void> requireKnownEffects(const SkillContext& context, NestNodeId root) {
    const Nest& nest = context.shared().nest();
    for (NestNodeId id = root; id < nest.nodes.size(); ++id)
        if (isInside(nest, root, id))
            KERNELSKILL_CHECK(requireKnownEffects(context, nest.node(id)));
    return {};
}

Gated<void> requireThreadsApart(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    const Nest& nest = context.shared().nest();
    const auto line = [&](Span span) { return lineNumber(context, span.begin); };
    if (!kernel.sharedArrays.empty())
        return refuse("shares-memory", kernel.name + " uses shared memory");
    if (!kernel.warpOperations.empty())
        return refuse("warp-operation",
                      fmt::format("{} exchanges values between lanes", kernel.name));
    for (const NestNode& node : nest.nodes) {
        if (node.barrier() != nullptr)
            return refuse("barrier",
                          fmt::format("threads wait for each other on line {}", line(node.span)));
        KERNELSKILL_CHECK(requireKnownEffects(context, node));
    }
    return {};
}

} // namespace kernelskill::skills
