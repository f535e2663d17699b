#include "skills/warp-uniform-control-flow/warp-uniform-control-flow.h"

#include "analysis/source/gpu_constants.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/rewriting/source_layout.h"
#include "skills/warp-uniform-control-flow/strided_branch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "warp-uniform-control-flow";

class WarpUniformControlFlow final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto branch = findStridedBranch(context, code);
        if (!branch)
            return std::unexpected(branch.error());
        const Span test = code.body().expr(branch->test).span;
        const std::string thread{context.file.source->slice(code.body().expr(branch->thread).span)};
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = code.body().stmt(branch->branch).span;
        offer.title = fmt::format("Let whole warps do the work behind `{}`",
                                  context.file.source->slice(test));
        offer.why = fmt::format(
            "`{}` on line {} leaves analysis::warpLanes of every warp idle; the work depends "
            "on {} alone, so that the first threads can do it",
            context.file.source->slice(test), lineNumber(context, test.begin), thread);
        offer.numerics = Numerics::Exact;
        if (branch->constantStride)
            offer.gain = ExpectedGain{
                static_cast<double>(std::min(*branch->constantStride, analysis::warpLanes)),
                fmt::format("one of {} analysis::warpLanes works before and all of a warp's after, "
                            "if the branch "
                            "takes all the time",
                            *branch->constantStride)};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const CodeMap& code = context.shared().code();
        const auto branch = findStridedBranch(context.at(offer.anchor), code);
        if (!branch)
            return std::unexpected(unsupported(context, branch.error()));
        return EditSet{{context.kernel.file, edits(context, code, *branch)}};
    }

private:
    static std::vector<TextEdit> edits(const SkillContext& context, const CodeMap& code,
                                       const StridedBranch& branch) {
        const FunctionBody& body = code.body();
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

std::unique_ptr<Skill> makeWarpUniformControlFlow() {
    return std::make_unique<WarpUniformControlFlow>();
}

} // namespace kernelskill::skills
