/// Launches and calls of the CUDA runtime as host code has them, for skills that edit host code.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/base/skill.h"

#include <expected>
#include <optional>
#include <string>
#include <utility>

namespace kernelskill::skills {

/// Refuses launches that no edit may touch: `launch-from-macro`, `launch-in-other-file`.
[[nodiscard]] Gated<void> requireEditableLaunch(const SkillContext& context,
                                                const analysis::LaunchSite& launch);

/// Returns the statement that is the launch and nothing else, if it stands in a block; else noId.
[[nodiscard]] analysis::StmtId launchStatement(const SkillContext& context,
                                               const analysis::LaunchSite& launch);

/// Whether a launch or a copy that names this stream, or noId, is in the default one.
[[nodiscard]] bool isDefaultStream(const analysis::CodeMap& code, analysis::ExprId stream);

/// Compares two streams that a launch or a copy may name; noId is the default stream.
[[nodiscard]] bool isSameStream(const analysis::CodeMap& code, analysis::ExprId a,
                                analysis::ExprId b);

/// The plan of the first of the kernel's launches for which `planAround` has one. Refuses as it
/// does of the first launch, and with `no-launch` or what requireEditable() refuses.
template <typename PlanAround>
[[nodiscard]] auto planForLaunch(const SkillContext& context, PlanAround planAround)
    -> decltype(planAround(context.kernel.launches.front())) {
    KERNELSKILL_CHECK(requireEditable(context));
    const analysis::KernelModel& kernel = context.kernel;
    if (kernel.launches.empty())
        return refuse("no-launch", kernel.name + " is not launched in this file");
    std::optional<Refusal> refusal;
    for (const analysis::LaunchSite& launch : kernel.launches) {
        auto plan = planAround(launch);
        if (plan)
            return plan;
        if (!refusal)
            refusal = std::move(plan.error());
    }
    return std::unexpected(std::move(*refusal));
}

} // namespace kernelskill::skills
