/// Moves several neighbouring elements with one load or store of a vector type.
#include "skills/base/planned_skill.h"
#include "skills/editing/group_writer.h"
#include "skills/gates/element_groups.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class VectorizedAccessSkill : public PlannedSkill<ElementGroups, Lanes> {
    Gated<ElementGroups> plan(const SkillContext& context) const override {
        return planElementGroups(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const ElementGroups& groups) const override {
        Offer offer = newOffer(context, groupedSpan(context.code(), groups), Lanes{groups.lanes});
        std::string names;
        for (const Stream& stream : groups.streams)
            names += fmt::format("{}{} as {}", names.empty() ? "" : ", ", stream.name, stream.type);
        offer.title = fmt::format("Access {} elements at once: {}", groups.lanes, names);
        offer.why = fmt::format(
            "neighbouring threads touch neighbouring elements, one at a time (line {}); {}",
            lineNumber(context, offer.anchor.begin), launchConsequence(context, groups));
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const ElementGroups& groups) const override {
        return groupEdits(context, context.code(), groups);
    }
};

} // namespace

KERNELSKILL_SKILL(VectorizedAccessSkill)

} // namespace kernelskill::skills
