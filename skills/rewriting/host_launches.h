/// Launches and calls of the CUDA runtime as host code has them, for skills that edit host code.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/rewriting/gates.h"
#include "skills/skill.h"

#include <expected>
#include <optional>
#include <string>
#include <utility>

namespace kernelskill::skills {

/// The kernel that has this launch among its own; it lives in `file`. Null: another file's launch.
[[nodiscard]] const analysis::KernelModel* kernelOf(const analysis::FileModel& file,
                                                    const analysis::LaunchSite& launch);

/// Refuses launches that no edit may touch: `launch-from-macro`, `launch-in-header`.
[[nodiscard]] std::expected<void, Refusal>
requireEditableLaunch(const SkillContext& context, const analysis::LaunchSite& launch);

/// What `planAround` makes of the first of the kernel's launches that it takes. Refuses as it does
/// of the first launch, and with `no-launch` or what requireEditable() refuses.
template <typename PlanAround>
[[nodiscard]] auto planForLaunch(const SkillContext& context, PlanAround planAround)
    -> decltype(planAround(context.kernel.launches.front())) {
    if (auto editable = requireEditable(context); !editable)
        return std::unexpected(editable.error());
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

/// The launch that an expression of the host function is, written with `<<<` in the file itself;
/// null where it is none.
[[nodiscard]] const analysis::LaunchSite* launchAt(const SkillContext& context, std::uint32_t host,
                                                   analysis::ExprId expr);

/// `CHECK(cudaGetLastError());` and its like: nothing that orders work.
[[nodiscard]] bool isErrorCheck(const SkillContext& context, const analysis::Stmt& stmt);

/// The launch in another stream.
[[nodiscard]] analysis::TextEdit inStream(const analysis::FunctionBody& host,
                                          const analysis::LaunchSite& launch,
                                          const std::string& stream);

} // namespace kernelskill::skills
