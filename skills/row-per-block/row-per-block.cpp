/// Gives the row that each thread works on to a block.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/schedule/share_rows.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RowPerBlockSkill : public VariedSkill<LaneRows, NoOption> {
    [[nodiscard]] Gated<LaneRows> plan(const SkillContext& context) const override {
        return laneRows(context, RowSharers::Block);
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const LaneRows& rows) const override {
        if (!rows.rows)
            return refuse("unknown-rows",
                          fmt::format("how many rows the launches of {} have is not known, and a "
                                      "warp for each may do",
                                      context.kernel.name));
        if (*rows.rows * warpLanes >= enoughThreads)
            return refuse("enough-rows",
                          fmt::format("a warp for each of the {} rows fills a GPU", *rows.rows));
        return std::vector{offerOf(context, rows)};
    }

    /// A block for each row may pay although their number is not known: a trial tells.
    [[nodiscard]] Gated<std::vector<Offer>> trials(const SkillContext& context,
                                                   const LaneRows& rows) const override {
        if (rows.rows)
            return std::vector<Offer>{};
        return std::vector{offerOf(context, rows)};
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const LaneRows& rows,
                                      NoOption) const override {
        KERNELSKILL_CHECK(requireIndependentRounds(context, rows.shared));
        Draft draft(context);
        shareRows(draft, context, rows);
        return draft.edits();
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const LaneRows& rows) const {
        const Span loop = context.kernel.body.stmt(rows.shared.loops.front().statement).span;
        Offer offer = newOffer(context, loop);
        offer.title = fmt::format("Give each row of {} to a block", context.kernel.name);
        const std::vector<std::string> folded = foldedNames(context, rows.shared);
        offer.why = fmt::format(
            "{} along {} alone (line {}); the threads of a block can share it{}",
            rows.rows == 1 ? "one thread of the grid walks" : "the thread of a row walks",
            rows.rows == 1 ? "its row" : "it", lineNumber(context, loop.begin),
            folded.empty()
                ? ""
                : fmt::format(" and fold {} across the block", fmt::join(folded, " and ")));
        offer.numerics = reassociates(rows.shared) ? Numerics::Reassociates : Numerics::Exact;
        if (rows.sectorsBefore > rows.sectorsAfter)
            offer.gain = sectorGain(rows);
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(RowPerBlockSkill)

} // namespace kernelskill::skills
