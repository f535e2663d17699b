#include "skills/gates/aliasing.h"

#include "analysis/queries/pointer_origins.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::optional<std::size_t> parameterIndex(const KernelModel& kernel, VariableId variable) {
    const auto found = std::ranges::find(kernel.parameters, variable, &Parameter::variable);
    if (found == kernel.parameters.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - kernel.parameters.begin());
}

std::string nameOf(const KernelModel& kernel, VariableId variable) {
    return variable == noId ? "a pointer" : kernel.body.variable(variable).name;
}

} // namespace

Gated<void> requireDistinctMemory(const SkillContext& context, VariableId a, VariableId b) {
    const KernelModel& kernel = context.kernel;
    const auto first = parameterIndex(kernel, a);
    const auto second = parameterIndex(kernel, b);
    if (!first || !second)
        return refuse("may-alias", fmt::format("what {} and {} point to is not known",
                                               nameOf(kernel, a), nameOf(kernel, b)));
    if (kernel.parameters[*first].type.isRestrict && kernel.parameters[*second].type.isRestrict)
        return {};
    if (!kernel.alsoLaunchedIn.empty())
        return refuse("may-alias",
                      fmt::format("{} and {} may overlap: {} may also launch {}", nameOf(kernel, a),
                                  nameOf(kernel, b), alsoLaunchedIn(context), kernel.name));
    if (kernel.launches.empty())
        return refuse("may-alias",
                      fmt::format("{} and {} may overlap: no launch in this file says what they "
                                  "point to, and they are not __restrict__",
                                  nameOf(kernel, a), nameOf(kernel, b)));
    for (const LaunchSite& launch : kernel.launches) {
        const std::size_t last = std::max(*first, *second);
        if (launch.host >= context.file.hostFunctions.size() || launch.arguments.size() <= last)
            return refuse("may-alias",
                          fmt::format("the launch on {} does not show what {} and {} point to",
                                      placeOf(context, launch), nameOf(kernel, a),
                                      nameOf(kernel, b)));
        const PointerOrigins origins(context.file, context.shared(), launch.host);
        if (const auto common =
                origins.commonOrigin(launch.arguments[*first], launch.arguments[*second]))
            return refuse("may-alias",
                          fmt::format("the launch on {} passes {} and {}, which both come "
                                      "from {}",
                                      placeOf(context, launch), nameOf(kernel, a),
                                      nameOf(kernel, b), *common));
    }
    return {};
}

Gated<void> requireDistinctInputs(const SkillContext& context, VariableId written) {
    if (!parameterIndex(context.kernel, written))
        return {};
    for (const Parameter& input : context.kernel.parameters)
        if (input.type.pointerDepth > 0 && input.isRead && !input.isWritten &&
            input.variable != written)
            KERNELSKILL_CHECK(requireDistinctMemory(context, written, input.variable));
    return {};
}

Gated<void> requireDistinctWrites(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    const auto leavesThread = [](const MemoryAccess& access) {
        return access.space == MemorySpace::Global || access.space == MemorySpace::Generic;
    };
    std::set<std::pair<VariableId, VariableId>> checked;
    for (const MemoryAccess& write : kernel.accesses) {
        if (!leavesThread(write) || write.kind == AccessKind::Read)
            continue;
        for (const MemoryAccess& other : kernel.accesses) {
            if (!leavesThread(other) || (other.base == write.base && write.base != noId) ||
                !checked.emplace(write.base, other.base).second)
                continue;
            KERNELSKILL_CHECK(requireDistinctMemory(context, write.base, other.base));
        }
    }
    return {};
}

} // namespace kernelskill::skills
