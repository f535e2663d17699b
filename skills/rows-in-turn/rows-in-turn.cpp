/// Lets the lanes of a warp walk the rows of all of them, one row after the other.
#include "skills/base/planned_skill.h"
#include "skills/editing/added_include.h"
#include "skills/rows-in-turn/turn_loops.h"
#include "skills/rows-in-turn/write_turns.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RowsInTurnSkill : public PlannedSkill<TurnLoops> {
    [[nodiscard]] Gated<TurnLoops> plan(const SkillContext& context) const override {
        return turnLoops(context);
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const TurnLoops& turns) const override {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, body.stmt(turns.shared.loops.front().statement).span);
        offer.title = fmt::format("Walk the rows of {} by all lanes, in turn", context.kernel.name);
        offer.why = fmt::format(
            "each thread walks along a row of its own (line {}), so that neighbouring lanes are a "
            "row apart: a round of a warp touches {:g} sectors, and {:g} if its lanes walk one "
            "row together and then the next; the launch stays as it is",
            lineNumber(context, offer.anchor.begin), turns.sectorsBefore, turns.sectorsAfter);
        if (reassociates(turns.shared))
            offer.numerics = Numerics::Reassociates;
        offer.gain = ExpectedGain{.factor = turns.sectorsBefore / turns.sectorsAfter,
                                  .basis = fmt::format("{:g} sectors a round become {:g}",
                                                       turns.sectorsBefore, turns.sectorsAfter)};
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const TurnLoops& turns) const override {
        KERNELSKILL_CHECK(requireIndependentRounds(context, turns.shared));
        Draft draft(context);
        writeTurns(draft, context, turns);
        std::vector<TextEdit> edits = draft.edits();
        // Both go to one place, where two edits would have no order.
        std::string includes;
        Span at;
        for (const std::string_view header :
             {"<cooperative_groups.h>", "<cooperative_groups/reduce.h>"})
            if (auto include = addedInclude(context, header)) {
                includes += include->newText;
                at = include->span;
            }
        if (!includes.empty())
            edits.push_back({at, std::move(includes)});
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(RowsInTurnSkill)

} // namespace kernelskill::skills
