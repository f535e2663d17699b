/// Captures some rounds of a loop of launches into a graph and replays it.
#include "analysis/syntax/lexer.h"
#include "skills/base/planned_skill.h"
#include "skills/cuda-graph-replay/replay_plan.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/host_code.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many rounds of the loop a graph holds.
enum class StepsInGraph : int {};

class ReplayEdits {
public:
    ReplayEdits(const SkillContext& context, const ReplayPlan& plan)
        : plan_(plan), code_(context, plan.host), body_(code_.body()),
          capture_(code_.name("capturing")), graph_(code_.name("graph")),
          replay_(code_.name("replay")), stream_(code_.stream(plan.stream)) {}

    [[nodiscard]] std::vector<TextEdit> edits() const {
        const Stmt& loop = body_.stmt(plan_.loop);
        const std::string indentation = code_.indentation(loop.span);
        CodeLines lines(code_.layout(), indentation);
        const std::int64_t steps = plan_.cost.stepsInGraph;
        lines.add(fmt::format("// {} rounds are captured once and replayed as one launch.", steps))
            .add(fmt::format("cudaStream_t {};", capture_))
            .add(code_.call(
                fmt::format("cudaStreamCreateWithFlags(&{}, cudaStreamNonBlocking)", capture_)))
            .add(code_.call(fmt::format(
                "cudaStreamBeginCapture({}, cudaStreamCaptureModeThreadLocal)", capture_)))
            .addBlock(capturedLoop(), indentation)
            .add(fmt::format("cudaGraph_t {};", graph_))
            .add(code_.call(fmt::format("cudaStreamEndCapture({}, &{})", capture_, graph_)))
            .add(fmt::format("cudaGraphExec_t {};", replay_))
            .add(code_.call(
                fmt::format("cudaGraphInstantiateWithFlags(&{}, {}, 0)", replay_, graph_)))
            .open(head(fmt::format("{} / {}", limit(), steps)))
            .add(code_.call(fmt::format("cudaGraphLaunch({}, {})", replay_, stream_)))
            .leave();
        if (plan_.rounds % steps != 0)
            lines.addBlock(remainingLoop(), indentation);
        const Stmt* wait = waitAfter();
        if (wait == nullptr)
            lines.add(code_.call(fmt::format("cudaStreamSynchronize({})", stream_)));
        CodeLines end(code_.layout(), indentation);
        end.add(code_.call(fmt::format("cudaGraphExecDestroy({})", replay_)))
            .add(code_.call(fmt::format("cudaGraphDestroy({})", graph_)))
            .add(code_.call(fmt::format("cudaStreamDestroy({})", capture_)));
        std::string text = lines.text() + (wait == nullptr ? end.text() : std::string());
        text.erase(0, indentation.size());
        text.resize(text.size() - code_.layout().newline().size());
        std::vector<TextEdit> edits{{loop.span, std::move(text)}};
        if (wait != nullptr)
            edits.push_back(code_.after(wait->span, end.text()));
        return edits;
    }

private:
    [[nodiscard]] std::string limit() const {
        const Expr& expr = body_.expr(plan_.limit);
        const bool isOperand =
            expr.kind == ExprKind::Integer || expr.kind == ExprKind::Variable || expr.fromMacro;
        const std::string text = code_.textOf(plan_.limit);
        return isOperand ? text : "(" + text + ")";
    }

    /// `for (int step = 0; step < limit; ++step)` with another limit.
    [[nodiscard]] std::string head(const std::string& limit) const {
        const Stmt& loop = body_.stmt(plan_.loop);
        const Span whole{loop.span.begin, body_.stmt(loop.children.back()).span.begin};
        std::string text =
            rewritten(code_.source(), whole, {{body_.expr(plan_.limit).span, limit}});
        text.resize(text.rfind(')') + 1);
        return text;
    }

    [[nodiscard]] std::string capturedLoop() const {
        std::vector<TextEdit> parts{
            {body_.expr(plan_.limit).span, std::to_string(plan_.cost.stepsInGraph)}};
        for (const LaunchSite* launch : plan_.launches)
            parts.push_back(inStream(body_, *launch, capture_));
        return rewritten(code_.source(), body_.stmt(plan_.loop).span, std::move(parts));
    }

    /// The rounds that are left after the last whole graph.
    [[nodiscard]] std::string remainingLoop() const {
        const Stmt& loop = body_.stmt(plan_.loop);
        const VariableId counter = body_.stmt(loop.init).declared.front();
        const Span start = body_.expr(body_.variable(counter).init).span;
        const std::int64_t steps = plan_.cost.stepsInGraph;
        return rewritten(code_.source(), loop.span,
                         {{start, fmt::format("{0} / {1} * {1}", limit(), steps)}});
    }

    /// The statement that follows the loop, if all it does is to wait for the GPU.
    [[nodiscard]] const Stmt* waitAfter() const {
        const Stmt& block = body_.stmt(body_.stmt(plan_.loop).parent);
        const auto self = std::ranges::find(block.children, plan_.loop);
        if (self == block.children.end() || self + 1 == block.children.end())
            return nullptr;
        const Stmt& next = body_.stmt(*(self + 1));
        for (const Token& token : lex(code_.source().text(), next.span))
            if (token.text == "cudaDeviceSynchronize")
                return code_.layout().endsLine(next.span.end) ? &next : nullptr;
        return nullptr;
    }

    const ReplayPlan& plan_;
    HostCode code_;
    const FunctionBody& body_;
    std::string capture_;
    std::string graph_;
    std::string replay_;
    std::string stream_;
};

class CudaGraphReplaySkill : public PlannedSkill<ReplayPlan, StepsInGraph> {
    Gated<ReplayPlan> plan(const SkillContext& context) const override {
        return planReplay(context);
    }

    Gated<Offer> offer(const SkillContext& context, const ReplayPlan& plan) const override {
        const ReplayCost& cost = plan.cost;
        const Span loop = context.file.hostFunctions[plan.host].body.stmt(plan.loop).span;
        Offer offer = newOffer(context, context.kernel.nameSpan,
                               StepsInGraph{static_cast<int>(cost.stepsInGraph)});
        offer.title = fmt::format("Replay {} rounds of the launches on line {} as a graph",
                                  cost.stepsInGraph, lineNumber(context, loop.begin));
        offer.why = fmt::format("the loop on line {} launches {} kernels, all with arguments that "
                                "a graph can keep: {} calls, captured and replayed, instead of {}",
                                lineNumber(context, loop.begin), cost.callsBefore, cost.callsAfter,
                                cost.callsBefore);
        offer.gain = ExpectedGain{static_cast<double>(cost.callsBefore) /
                                      static_cast<double>(cost.callsAfter),
                                  "calls of the host that start work, before over after"};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const ReplayPlan& plan) const override {
        return ReplayEdits(context, plan).edits();
    }
};

} // namespace

KERNELSKILL_SKILL(CudaGraphReplaySkill)

} // namespace kernelskill::skills
