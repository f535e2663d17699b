/// Compiles a kernel for the values of parameters that its launches tell.
#include "skills/base/planned_skill.h"
#include "skills/launch-specialization/specialize.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class LaunchSpecializationSkill : public PlannedSkill<Specialization> {
    [[nodiscard]] Gated<Specialization> plan(const SkillContext& context) const override {
        return specialization(context);
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const Specialization& found) const override {
        const SpecialReason& first = found.reasons.front();
        Offer offer = newOffer(context, first.place);
        const auto known = std::ranges::find_if(found.launches, &SpecialLaunch::isKnown);
        const SpecialLaunch& shown =
            known == found.launches.end() ? found.launches.front() : *known;
        std::vector<std::string> values;
        for (std::size_t i = 0; i < found.parameters.size(); ++i)
            if (shown.values[i])
                values.push_back(fmt::format("{} = {}",
                                             context.kernel.parameters[found.parameters[i]].name,
                                             shown.values[i]->value));
        offer.title =
            fmt::format("Compile {} for {}", context.kernel.name, fmt::join(values, " and "));
        offer.why = fmt::format(
            "the launch on {} passes {}, {}; {}",
            placeOf(context, context.kernel.launches[shown.launch]), fmt::join(values, " and "),
            effectOf(context, first),
            found.isDirect ? "every launch passes constants"
                           : "other values go to an instance that takes them as they come");
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const Specialization& found) const override {
        Draft draft(context);
        specialize(draft, context, found);
        return draft.edits();
    }

    static std::string effectOf(const SkillContext& context, const SpecialReason& reason) {
        const std::uint32_t line = lineNumber(context, reason.place.begin);
        switch (reason.use) {
        case SpecialUse::Loop:
            return fmt::format(
                "and the loop {} line {} then has {} rounds, which the compiler unrolls{}",
                reason.loop == noId ? "of the function called on" : "on", line, reason.rounds,
                reason.array.empty() ? "" : fmt::format(": {} stays in registers", reason.array));
        case SpecialUse::Division:
            return fmt::format("and the division on line {} becomes a multiplication", line);
        case SpecialUse::Branch:
            return fmt::format("which decides the condition on line {} before the kernel runs",
                               line);
        }
        return {};
    }
};

} // namespace

KERNELSKILL_SKILL(LaunchSpecializationSkill)

} // namespace kernelskill::skills
