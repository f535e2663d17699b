/// Lets neighbouring threads do the steps of a tree reduction in shared memory.
#include "skills/base/planned_skill.h"
#include "skills/sequential-addressing/interleaved_tree.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class SequentialAddressingSkill : public PlannedSkill<TreeReduction> {
    Gated<TreeReduction> plan(const SkillContext& context) const override {
        return findInterleavedTree(context);
    }

    Gated<Offer> offer(const SkillContext& context, const TreeReduction& tree) const override {
        const FunctionBody& body = context.kernel.body;
        const std::string names = arrayNames(body, tree);
        Offer offer = newOffer(context, body.stmt(context.kernel.loops[tree.loop].statement).span);
        offer.title = fmt::format("Let neighbouring threads reduce {}", names);
        offer.why =
            fmt::format("the threads that fold {} on line {} are ever further apart, so that "
                        "every warp runs each step for a few of its lanes",
                        names, lineNumber(context, body.stmt(tree.guard).span.begin));
        offer.numerics = numericsOf(body, tree);
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const TreeReduction& tree) const override {
        return sequentialEdits(context, tree);
    }
};

} // namespace

KERNELSKILL_SKILL(SequentialAddressingSkill)

} // namespace kernelskill::skills
