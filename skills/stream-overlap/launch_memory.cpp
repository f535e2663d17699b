#include "skills/stream-overlap/launch_memory.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/host_statements.h"
#include "analysis/queries/kernel_footprint.h"
#include "skills/base/gates.h"
#include "skills/stream-overlap/host_pointers.h"

#include <spdlog/fmt/fmt.h>

#include <string>

namespace kernelskill::skills {

using namespace analysis;

Gated<void> requireApart(const SkillContext& context, const LaunchSite& first,
                         const LaunchSite& second) {
    const CodeMap& code = context.shared().host(first.host);
    const HostPointers pointers(code);
    const KernelFootprint before = footprintOf(context.file, *kernelOf(context.file, first));
    const KernelFootprint after = footprintOf(context.file, *kernelOf(context.file, second));
    for (const KernelFootprint* footprint : {&before, &after})
        if (!footprint->unknown.empty())
            return refuse("unknown-memory", footprint->unknown);
    const auto text = [&](ExprId id) {
        return std::string(context.file.source->slice(code.body().expr(id).span));
    };
    const std::uint32_t lines[] = {lineNumber(context, first.span.begin),
                                   lineNumber(context, second.span.begin)};
    for (std::size_t i = 0; i < before.parameters.size(); ++i)
        for (std::size_t j = 0; j < after.parameters.size(); ++j) {
            const PointerUse& one = before.parameters[i];
            const PointerUse& other = after.parameters[j];
            const bool areUsed = (one.isRead || one.isWritten) && (other.isRead || other.isWritten);
            if (!areUsed || (!one.isWritten && !other.isWritten))
                continue;
            if (i >= first.arguments.size() || j >= second.arguments.size())
                return refuse("unknown-memory", "a kernel has a pointer as its default argument");
            const ExprId a = first.arguments[i];
            const ExprId b = second.arguments[j];
            const VariableId rootA = pointers.rootOf(a);
            const VariableId rootB = pointers.rootOf(b);
            if (rootA != noId && rootA == rootB)
                return refuse("shares-memory",
                              fmt::format("the launches on lines {} and {} both use {}, and one "
                                          "writes it",
                                          lines[0], lines[1], code.body().variable(rootA).name));
            if (!pointers.areApart(rootA, rootB))
                return refuse("may-alias",
                              fmt::format("{} and {} of the launches on lines {} and {} may be the "
                                          "same memory: they are neither allocations of this "
                                          "function nor __restrict__ parameters of it",
                                          text(a), text(b), lines[0], lines[1]));
        }
    return {};
}

} // namespace kernelskill::skills
