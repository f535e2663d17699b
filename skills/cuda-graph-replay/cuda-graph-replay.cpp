#include "skills/cuda-graph-replay/cuda-graph-replay.h"

#include "analysis/syntax/lexer.h"
#include "skills/cuda-graph-replay/replay_plan.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/host_launches.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "cuda-graph-replay";

class ReplayEdits {
public:
    ReplayEdits(const SkillContext& context, const ReplayPlan& plan)
        : plan_(plan), source_(*context.file.source), host_(context.file.hostFunctions[plan.host]),
          body_(host_.body), layout_(source_, context.kernel), check_(errorCheckOf(source_, host_)),
          capture_(freshName(body_, "capturing")), graph_(freshName(body_, "graph")),
          replay_(freshName(body_, "replay")) {
        stream_ = plan.stream == noId ? "0" : textOf(plan.stream);
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        const Stmt& loop = body_.stmt(plan_.loop);
        const std::string indentation = layout_.indentation(loop.span.begin);
        CodeLines lines(layout_, indentation);
        const std::int64_t steps = plan_.cost.stepsInGraph;
        lines.add(fmt::format("// {} rounds are captured once and replayed as one launch.", steps))
            .add(fmt::format("cudaStream_t {};", capture_))
            .add(call(
                fmt::format("cudaStreamCreateWithFlags(&{}, cudaStreamNonBlocking)", capture_)))
            .add(call(fmt::format("cudaStreamBeginCapture({}, cudaStreamCaptureModeThreadLocal)",
                                  capture_)))
            .addBlock(capturedLoop(), indentation)
            .add(fmt::format("cudaGraph_t {};", graph_))
            .add(call(fmt::format("cudaStreamEndCapture({}, &{})", capture_, graph_)))
            .add(fmt::format("cudaGraphExec_t {};", replay_))
            .add(call(fmt::format("cudaGraphInstantiateWithFlags(&{}, {}, 0)", replay_, graph_)))
            .open(head(fmt::format("{} / {}", limit(), steps)))
            .add(call(fmt::format("cudaGraphLaunch({}, {})", replay_, stream_)))
            .leave();
        if (plan_.rounds % steps != 0)
            lines.addBlock(remainingLoop(), indentation);
        const Stmt* wait = waitAfter();
        if (wait == nullptr)
            lines.add(call(fmt::format("cudaStreamSynchronize({})", stream_)));
        CodeLines end(layout_, indentation);
        end.add(call(fmt::format("cudaGraphExecDestroy({})", replay_)))
            .add(call(fmt::format("cudaGraphDestroy({})", graph_)))
            .add(call(fmt::format("cudaStreamDestroy({})", capture_)));
        std::string text = lines.text() + (wait == nullptr ? end.text() : std::string());
        text.erase(0, indentation.size());
        text.resize(text.size() - layout_.newline().size());
        std::vector<TextEdit> edits{{loop.span, std::move(text)}};
        if (wait != nullptr) {
            const std::uint32_t after = layout_.endOfLineTrivia(wait->span.end);
            std::string closing = layout_.newline() + end.text();
            closing.resize(closing.size() - layout_.newline().size());
            edits.push_back({{after, after}, std::move(closing)});
        }
        return edits;
    }

private:
    [[nodiscard]] std::string textOf(ExprId id) const {
        return std::string(source_.slice(body_.expr(id).span));
    }

    [[nodiscard]] std::string call(const std::string& text) const {
        return check_.empty() ? text + ";" : fmt::format("{}({});", check_, text);
    }

    [[nodiscard]] std::string limit() const {
        const Expr& expr = body_.expr(plan_.limit);
        const bool isOperand =
            expr.kind == ExprKind::Integer || expr.kind == ExprKind::Variable || expr.fromMacro;
        const std::string text = textOf(plan_.limit);
        return isOperand ? text : "(" + text + ")";
    }

    /// `for (int step = 0; step < limit; ++step)` with another limit.
    [[nodiscard]] std::string head(const std::string& limit) const {
        const Stmt& loop = body_.stmt(plan_.loop);
        const Span whole{loop.span.begin, body_.stmt(loop.children.back()).span.begin};
        std::string text = rewritten(source_, whole, {{body_.expr(plan_.limit).span, limit}});
        text.resize(text.rfind(')') + 1);
        return text;
    }

    [[nodiscard]] std::string capturedLoop() const {
        std::vector<TextEdit> parts{
            {body_.expr(plan_.limit).span, std::to_string(plan_.cost.stepsInGraph)}};
        for (const LaunchSite* launch : plan_.launches)
            parts.push_back(inStream(body_, *launch, capture_));
        return rewritten(source_, body_.stmt(plan_.loop).span, std::move(parts));
    }

    /// What is left after the last whole graph.
    [[nodiscard]] std::string remainingLoop() const {
        const Stmt& loop = body_.stmt(plan_.loop);
        const VariableId counter = body_.stmt(loop.init).declared.front();
        const Span start = body_.expr(body_.variable(counter).init).span;
        const std::int64_t steps = plan_.cost.stepsInGraph;
        return rewritten(source_, loop.span,
                         {{start, fmt::format("{0} / {1} * {1}", limit(), steps)}});
    }

    /// The statement that follows the loop, if all it does is to wait for the GPU.
    [[nodiscard]] const Stmt* waitAfter() const {
        const Stmt& block = body_.stmt(body_.stmt(plan_.loop).parent);
        const auto self = std::ranges::find(block.children, plan_.loop);
        if (self == block.children.end() || self + 1 == block.children.end())
            return nullptr;
        const Stmt& next = body_.stmt(*(self + 1));
        for (const Token& token : lex(source_.text(), next.span))
            if (token.text == "cudaDeviceSynchronize")
                return layout_.endsLine(next.span.end) ? &next : nullptr;
        return nullptr;
    }

    const ReplayPlan& plan_;
    const SourceText& source_;
    const HostFunction& host_;
    const FunctionBody& body_;
    SourceLayout layout_;
    std::string check_;
    std::string capture_;
    std::string graph_;
    std::string replay_;
    std::string stream_;
};

class CudaGraphReplay final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const auto plan = planReplay(context);
        if (!plan)
            return std::unexpected(plan.error());
        const ReplayCost& cost = plan->cost;
        const Span loop = context.file.hostFunctions[plan->host].body.stmt(plan->loop).span;
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = context.kernel.nameSpan;
        offer.title = fmt::format("Replay {} rounds of the launches on line {} as a graph",
                                  cost.stepsInGraph, lineNumber(context, loop.begin));
        offer.why = fmt::format("the loop on line {} launches {} kernels, all with arguments that "
                                "a graph can keep: {} calls, captured and replayed, instead of {}",
                                lineNumber(context, loop.begin), cost.callsBefore, cost.callsAfter,
                                cost.callsBefore);
        offer.option = static_cast<int>(cost.stepsInGraph);
        offer.numerics = Numerics::Exact;
        offer.gain = ExpectedGain{static_cast<double>(cost.callsBefore) /
                                      static_cast<double>(cost.callsAfter),
                                  "calls of the host that start work, before over after"};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context, const Offer&) const override {
        const auto plan = planReplay(context);
        if (!plan)
            return std::unexpected(unsupported(context, plan.error()));
        return EditSet{{context.kernel.file, ReplayEdits(context, *plan).edits()}};
    }
};

} // namespace

std::unique_ptr<Skill> makeCudaGraphReplay() {
    return std::make_unique<CudaGraphReplay>();
}

} // namespace kernelskill::skills
