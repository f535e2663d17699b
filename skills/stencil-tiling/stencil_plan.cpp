#include "skills/stencil-tiling/stencil_plan.h"

#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_loop.h"
#include "skills/gates/enough_threads.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The min quotient of loads before and after.
constexpr double minGain = 1.1;
constexpr int maxPoints = 8;
/// The fastest number on an H200 from 256 x 256 x 256 and 2048 x 2048 points on; 16 never was.
constexpr int usualPoints = 4;
/// Neighbouring threads along an axis with smaller strides share sectors.
constexpr std::int64_t minStride = 32;

class StencilPlanner {
public:
    explicit StencilPlanner(const SkillContext& context)
        : context_(context), kernel_(context.kernel), nest_(context.shared().nest()),
          code_(context.code()), body_(code_.body()) {}

    Gated<StencilPlan> plan() {
        auto inLoop = chooseLoop(
            context_, code_, [&](std::uint32_t loop) { return planOfLoop(loop); },
            [](std::uint32_t, const Refusal& refusal) {
                return refusal.gate == "no-neighbours" ? Likeness::None : Likeness::Near;
            });
        if (inLoop)
            return inLoop;
        std::optional<Refusal> nearest;
        if (inLoop.error().gate != "no-loop" && inLoop.error().gate != "no-neighbours" &&
            inLoop.error().gate != "no-plain-loop")
            nearest = inLoop.error();
        constexpr std::uint8_t slowest = 2;
        for (std::uint8_t axis = slowest; axis > 0; --axis) {
            auto marched = planOfAxis(axis);
            if (marched)
                return marched;
            if (!nearest || (nearest->gate == "no-axis" && marched.error().gate != "no-axis"))
                nearest = std::move(marched.error());
        }
        return std::unexpected(std::move(*nearest));
    }

private:
    [[nodiscard]] std::uint32_t lineOf(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    Gated<void> requireGain(const Queues& queues) const {
        if (queues.before < minGain * queues.after)
            return refuse("few-shared-loads",
                          fmt::format("{} of {} loads would be left", queues.after, queues.before));
        return {};
    }

    [[nodiscard]] const NestLoop* nestLoop(StmtId statement) const {
        for (const NestNode& node : nest_.nodes)
            if (node.frame == 0 && node.statement == statement && node.loop() != nullptr)
                return node.loop();
        return nullptr;
    }

    [[nodiscard]] bool changesIn(StmtId statement, VariableId variable) const {
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            return code_.isWrite(use) && code_.holds(statement, use);
        });
    }

    /// Whether no line can stand in front of it: it is an else branch or has a label.
    [[nodiscard]] bool isElseOrLabel(StmtId statement) const {
        const Stmt& parent = body_.stmt(body_.stmt(statement).parent);
        const bool isLonelyBranch = parent.kind == StmtKind::For ||
                                    parent.kind == StmtKind::While ||
                                    (parent.kind == StmtKind::If && parent.children.size() == 1);
        return parent.kind != StmtKind::Compound && !isLonelyBranch;
    }

    /// Plans queues in `for (int z = start; …; ++z)`, whose rounds a thread runs one after another.
    Gated<StencilPlan> planOfLoop(std::uint32_t index) const {
        const StmtId statement = kernel_.loops[index].statement;
        const Stmt& stmt = body_.stmt(statement);
        const NestLoop* loop = nestLoop(statement);
        const auto step = loop != nullptr && loop->step ? loop->step->asConstant() : std::nullopt;
        const VariableId iterator = loop == nullptr ? noId : loop->variable;
        if (stmt.kind != StmtKind::For || stmt.init == noId || stmt.increment == noId ||
            iterator == noId || loop->style != NestLoopStyle::Serial || !step || *step <= 0 ||
            code_.declarationOf(iterator) != stmt.init ||
            body_.stmt(stmt.init).declared.size() != 1 || body_.variable(iterator).init == noId ||
            isElseOrLabel(statement) || changesIn(stmt.children[0], iterator) ||
            !isWrittenAs(*context_.file.source, stmt.span, {"for"}))
            return refuse("no-plain-loop",
                          fmt::format("the loop on line {} is no plain `for` of each thread's own",
                                      lineOf(statement)));
        const RoundCounter counter{{loop->iterator}, *step};
        StencilPlan plan{std::nullopt, {statement, iterator, *step, {}}, {}, {}};
        KERNELSKILL_TRY(plan.queues,
                        queuesIn(counter, statement, stmt.children[0], plan.loop.statements));
        KERNELSKILL_CHECK(requireGain(plan.queues));
        return plan;
    }

    /// Finds the queues of the loop's body, or of a branch that all rounds take or none.
    Gated<Queues> queuesIn(const RoundCounter& counter, StmtId loop, StmtId branch,
                           std::vector<StmtId>& statements) const {
        statements = code_.statementsOf(branch);
        auto found = queuesOf(context_, counter, statements);
        if (found || found.error().gate != "no-neighbours")
            return found;
        for (const StmtId id : std::vector(statements)) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind != StmtKind::If) {
                if (std::ranges::any_of(code_.statementsIn(id), [&](StmtId inner) {
                        const StmtKind kind = body_.stmt(inner).kind;
                        return kind == StmtKind::Continue || kind == StmtKind::Break;
                    }))
                    return found;
                continue;
            }
            if (stmt.condition == noId || stmt.init != noId || !isSteadyIn(loop, stmt.condition) ||
                stmt.children.size() != 1 ||
                body_.stmt(stmt.children[0]).kind != StmtKind::Compound)
                return found;
            std::vector<StmtId> inner;
            auto queues = queuesIn(counter, loop, stmt.children[0], inner);
            if (!queues && queues.error().gate == "no-neighbours")
                return found;
            statements = std::move(inner);
            return queues;
        }
        return found;
    }

    /// Whether the condition has one value in all rounds.
    [[nodiscard]] bool isSteadyIn(StmtId loop, ExprId condition) const {
        return std::ranges::all_of(code_.expressionsBelow(condition), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Variable)
                return expr.variable == noId ||
                       ((code_.declarationOf(expr.variable) == noId ||
                         !code_.encloses(loop, code_.declarationOf(expr.variable))) &&
                        !changesIn(loop, expr.variable));
            return expr.kind != ExprKind::Subscript && expr.kind != ExprKind::Call &&
                   expr.kind != ExprKind::Other &&
                   !(expr.kind == ExprKind::Unary && expr.op == "*") &&
                   !(expr.kind == ExprKind::Member && expr.isArrow);
        });
    }

    Gated<StencilPlan> planOfAxis(std::uint8_t axis) const {
        StencilPlan plan;
        KERNELSKILL_TRY(plan.march, marchedWork(context_, axis));
        const RoundCounter counter = roundsAlong(nest_, axis);
        KERNELSKILL_TRY(plan.queues, queuesOf(context_, counter, plan.march->work));
        for (const Queue& queue : plan.queues.all) {
            const NestAccess& access = nest_.accesses[queue.group.loads.front().access];
            const auto stride = strideOf(nest_, counter, access)->asConstant();
            if (stride && std::abs(*stride) < minStride)
                return refuse("fast-axis",
                              fmt::format("threads that lie next to each other along {} load {} "
                                          "side by side",
                                          body_.variable(plan.march->index).name,
                                          nest_.arrays[queue.group.array].name));
        }
        KERNELSKILL_CHECK(requireGain(plan.queues));
        KERNELSKILL_TRY(const int most, pointsOfAThread(context_, axis, maxPoints));
        for (int points = most; points > 1; points /= 2)
            plan.points.push_back(points);
        if (const auto usual = std::ranges::find(plan.points, usualPoints);
            usual != plan.points.end())
            std::rotate(plan.points.begin(), usual, usual + 1);
        return plan;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const Nest& nest_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<StencilPlan> planStencil(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return StencilPlanner(context).plan();
}

} // namespace kernelskill::skills
