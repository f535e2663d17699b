/// Launches as many blocks as the GPU holds, which do their set-up once and take the blocks of the
/// launch in turns.
#include "skills/base/planned_skill.h"
#include "skills/persistent-kernel/persist.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class PersistentKernelSkill : public PlannedSkill<PersistentBlocks> {
    [[nodiscard]] Gated<PersistentBlocks> plan(const SkillContext& context) const override {
        return persistentBlocks(context);
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const PersistentBlocks& found) const override {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, context.kernel.nameSpan);
        offer.title =
            fmt::format("Let resident blocks of {} take the blocks of its launch in turns",
                        context.kernel.name);
        offer.why = fmt::format(
            "lines {} to {} are the same in every block{}, and take about {:.0f} % of what a block "
            "does; a grid as large as the GPU does them once",
            lineNumber(context, body.stmt(found.setUp.front()).span.begin),
            lineNumber(context, body.stmt(found.setUp.back()).span.end),
            found.array.empty() ? "" : fmt::format(" ({} is filled)", found.array),
            100 * found.setUpCost / (found.setUpCost + found.workCost));
        if (found.workCost > 0)
            offer.gain = ExpectedGain{.factor = 1 + found.setUpCost / found.workCost,
                                      .basis = "the set-up of a block is done once for many"};
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const PersistentBlocks& found) const override {
        Draft draft(context);
        persist(draft, context, found);
        return draft.edits();
    }
};

} // namespace

KERNELSKILL_SKILL(PersistentKernelSkill)

} // namespace kernelskill::skills
