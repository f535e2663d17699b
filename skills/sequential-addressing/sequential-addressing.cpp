/// Lets neighbouring threads do the additions of a tree reduction in shared memory.
#include "skills/base/planned_skill.h"
#include "skills/sequential-addressing/interleaved_tree.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isExact(const FunctionBody& body, const FoldedArray& folded) {
    const ScalarKind scalar = body.variable(folded.array).type.scalar;
    const bool isInteger = scalar >= ScalarKind::Bool && scalar <= ScalarKind::UInt64;
    return isInteger || (folded.fold != FoldKind::Sum && folded.fold != FoldKind::Product);
}

class SequentialAddressingSkill : public PlannedSkill<TreeReduction> {
    Gated<TreeReduction> plan(const SkillContext& context) const override {
        return findInterleavedTree(context);
    }

    Gated<Offer> offer(const SkillContext& context, const TreeReduction& tree) const override {
        const FunctionBody& body = context.kernel.body;
        std::string names;
        bool isExactForAll = true;
        for (const FoldedArray& folded : tree.arrays) {
            names +=
                fmt::format("{}{}", names.empty() ? "" : ", ", body.variable(folded.array).name);
            isExactForAll &= isExact(body, folded);
        }
        Offer offer = newOffer(context, body.stmt(context.kernel.loops[tree.loop].statement).span);
        offer.title = fmt::format("Let neighbouring threads reduce {}", names);
        offer.why =
            fmt::format("the threads that fold {} on line {} lie ever further apart, so that "
                        "each warp comes along for a few of its lanes",
                        names, lineNumber(context, body.stmt(tree.guard).span.begin));
        offer.numerics = isExactForAll ? Numerics::Exact : Numerics::Reassociates;
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const TreeReduction& tree) const override {
        return sequentialEdits(context, tree);
    }
};

} // namespace

KERNELSKILL_SKILL(SequentialAddressingSkill)

} // namespace kernelskill::skills
