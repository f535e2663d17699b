/// Lets a kernel that handles one element a thread handle any size with any grid.
#include "analysis/queries/grid_stride_loops.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/grid_stride_form.h"
#include "skills/gates/elementwise_kernel.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class GridStrideLoopSkill : public PlannedSkill<ElementwiseKernel> {
    Gated<ElementwiseKernel> plan(const SkillContext& context) const override {
        const CodeMap& code = context.code();
        KERNELSKILL_CHECK(requireEditable(context));
        if (!findGridStrideLoops(context.kernel, code).empty())
            return refuse("already-grid-stride",
                          fmt::format("{} already has a grid-stride loop", context.kernel.name));
        KERNELSKILL_TRY(auto found, recogniseElementwise(context, code));
        KERNELSKILL_CHECK(requireLoopLines(context, code, found));
        return found;
    }

    Gated<Offer> offer(const SkillContext& context, const ElementwiseKernel& found) const override {
        const FunctionBody& body = context.kernel.body;
        const std::string limit{context.file.source->slice(body.expr(found.limit).span)};
        Offer offer = newOffer(context, body.stmt(found.guard).span);
        offer.title =
            fmt::format("Turn the bounds check of {} into a grid-stride loop", context.kernel.name);
        offer.why = fmt::format(
            "{} handles element {} alone, checked against {} on line {}; every launch stays valid, "
            "since a grid that covers {} runs the loop once",
            context.kernel.name, body.variable(found.index).name, limit,
            lineNumber(context, offer.anchor.begin), limit);
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const ElementwiseKernel& found) const override {
        return gridStrideEdits(context, context.code(), found);
    }
};

} // namespace

KERNELSKILL_SKILL(GridStrideLoopSkill)

} // namespace kernelskill::skills
