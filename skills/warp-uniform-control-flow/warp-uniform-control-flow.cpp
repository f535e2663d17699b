/// Gives the work of every m-th thread to the first threads of the block, which fill whole warps.
#include "analysis/queries/source_layout.h"
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/warp-uniform-control-flow/strided_branch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class WarpUniformControlFlowSkill : public PlannedSkill<StridedBranch> {
    Gated<StridedBranch> plan(const SkillContext& context) const override {
        return findStridedBranch(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const StridedBranch& branch) const override {
        const FunctionBody& body = context.kernel.body;
        const Span test = body.expr(branch.test).span;
        const std::string thread{context.file.source->slice(body.expr(branch.thread).span)};
        Offer offer = newOffer(context, body.stmt(branch.branch).span);
        offer.title = fmt::format("Let whole warps do the work behind `{}`",
                                  context.file.source->slice(test));
        offer.why =
            fmt::format("`{}` on line {} leaves lanes of every warp idle; the work depends on {} "
                        "alone, so that "
                        "the first threads can do it",
                        context.file.source->slice(test), lineNumber(context, test.begin), thread);
        if (branch.constantStride)
            offer.gain = ExpectedGain{
                static_cast<double>(std::min(*branch.constantStride, analysis::warpLanes)),
                fmt::format("one of {} lanes works before and all of a warp's after, if the branch "
                            "takes all the time",
                            *branch.constantStride)};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const StridedBranch& branch) const override {
        const FunctionBody& body = context.kernel.body;
        const SourceText& source = *context.file.source;
        const SourceLayout layout(source, context.kernel);
        const Stmt& stmt = body.stmt(branch.branch);
        const Expr& thread = body.expr(branch.thread);
        const std::string place = freshName(body, "place");
        const std::string declaration =
            fmt::format("const {} {} = {} * {};", typeOf(body, thread), place,
                        source.slice(thread.span), branch.stride);
        std::vector<TextEdit> edits{
            {{stmt.span.begin, stmt.span.begin},
             declaration + layout.newline() + layout.indentation(stmt.span.begin)},
            {body.expr(branch.test).span, place + " < blockDim.x"}};
        for (const ExprId use : branch.threads)
            edits.push_back({body.expr(use).span, place});
        return edits;
    }

    static std::string typeOf(const FunctionBody& body, const Expr& thread) {
        if (thread.kind == ExprKind::BuiltinIndex)
            return "unsigned int";
        const Type& type = body.variable(thread.variable).type;
        std::string text = type.spelling.contains("auto") ? type.canonical : type.spelling;
        if (text.starts_with("const "))
            text.erase(0, 6);
        return text;
    }
};

} // namespace

KERNELSKILL_SKILL(WarpUniformControlFlowSkill)

} // namespace kernelskill::skills
