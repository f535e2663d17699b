/// Makes two kernels of one that runs loops one after the other.
#include "skills/base/planned_skill.h"
#include "skills/kernel-fission/fission_parts.h"
#include "skills/kernel-fission/fission_text.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class KernelFissionSkill : public PlannedSkill<FissionParts> {
    [[nodiscard]] Gated<FissionParts> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_TRY(FissionParts parts, fissionParts(context));
        KERNELSKILL_CHECK(requireRepeatableLaunches(context));
        return parts;
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const FissionParts& parts) const override {
        const std::string reason =
            parts.reason.empty() ? registerReason(context.compiled) : parts.reason;
        if (reason.empty())
            return refuse("no-reason", fmt::format("nothing shows that the parts of {} would do "
                                                   "better apart",
                                                   context.kernel.name));
        Offer offer = newOffer(context, context.kernel.nameSpan);
        offer.title = fmt::format(
            "Split {} in two at line {}", context.kernel.name,
            lineNumber(context, context.kernel.body.stmt(parts.rest.front()).span.begin));
        offer.why = reason;
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const FissionParts& parts) const override {
        return fissionEdits(context, parts);
    }

    /// Tells what registers cost the kernel as a whole; empty if they cost nothing.
    [[nodiscard]] static std::string registerReason(const CompiledKernel* compiled) {
        if (compiled == nullptr || !compiled->occupancy)
            return "";
        if (compiled->spilledBytes() > 0)
            return fmt::format("{} bytes of registers are spilled, and each part needs those of "
                               "its own alone",
                               compiled->spilledBytes());
        return compiled->occupancy->isLimitedBy(OccupancyLimiter::Registers)
                   ? fmt::format("{} registers a thread limit how many are resident, and each part "
                                 "needs those of its own alone",
                                 compiled->registers)
                   : "";
    }
};

} // namespace

KERNELSKILL_SKILL(KernelFissionSkill)

} // namespace kernelskill::skills
