/// Gives the row that each thread works on to a warp.
#include "skills/base/planned_skill.h"
#include "skills/schedule/share_rows.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RowPerWarpSkill : public PlannedSkill<LaneRows> {
    [[nodiscard]] Gated<LaneRows> plan(const SkillContext& context) const override {
        return laneRows(context, RowSharers::Warp);
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const LaneRows& rows) const override {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, body.stmt(rows.shared.loops.front().statement).span);
        offer.title = fmt::format("Give each row of {} to a warp", context.kernel.name);
        const std::vector<std::string> folded = foldedNames(context, rows.shared);
        offer.why = fmt::format(
            "the thread of a row walks along it (line {}), so that neighbouring lanes are a row "
            "apart: a round of a warp touches {:g} sectors, and {:g} if its lanes walk side by "
            "side{}",
            lineNumber(context, offer.anchor.begin), rows.sectorsBefore, rows.sectorsAfter,
            folded.empty()
                ? ""
                : fmt::format(" and fold {} across the warp", fmt::join(folded, " and ")));
        if (reassociates(rows.shared))
            offer.numerics = Numerics::Reassociates;
        offer.gain = sectorGain(rows);
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const LaneRows& rows) const override {
        KERNELSKILL_CHECK(requireIndependentRounds(context, rows.shared));
        Draft draft(context);
        shareRows(draft, context, rows);
        return draft.edits();
    }
};

} // namespace

KERNELSKILL_SKILL(RowPerWarpSkill)

} // namespace kernelskill::skills
