#include "skills/cuda-graph-replay/replay_plan.h"

#include "analysis/queries/host_statements.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/standard_swap.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/host_launches.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Beyond it a launch costs the host less than its kernel keeps the GPU busy: 10 microseconds of
/// requests to the caches at 10 TB/s.
constexpr double longKernelBytes = 100e6;
constexpr std::int64_t maxPeriod = 4;

class ReplayPlanner {
public:
    explicit ReplayPlanner(const SkillContext& context) : context_(context) {}

    Gated<ReplayPlan> plan() {
        return planForLaunch(context_,
                             [&](const LaunchSite& launch) { return planAround(launch); });
    }

private:
    Gated<ReplayPlan> planAround(const LaunchSite& launch) {
        const std::uint32_t line = lineNumber(context_, launch.span.begin);
        KERNELSKILL_CHECK(requireEditableLaunch(context_, launch));
        plan_ = {};
        plan_.host = launch.host;
        host_ = &context_.shared().host(launch.host);
        plan_.loop = loopAround(launch);
        if (plan_.loop == noId)
            return refuse("not-in-a-loop",
                          fmt::format("the launch on line {} is not repeated by a for loop", line));
        KERNELSKILL_CHECK(requireFresh());
        KERNELSKILL_CHECK(requireCountedLoop());
        KERNELSKILL_CHECK(readBody());
        KERNELSKILL_CHECK(requireShortKernels());
        const auto launches = static_cast<std::int64_t>(plan_.launches.size());
        const auto cost = cheapestReplay(plan_.rounds, launches, period());
        if (!cost)
            return refuse("too-few-launches",
                          fmt::format("{} rounds of {} launches are too few to pay for a graph",
                                      plan_.rounds, launches));
        plan_.cost = *cost;
        const SourceLayout layout(*context_.file.source, context_.kernel);
        const Span span = loop().span;
        if (!layout.startsLine(span.begin) || !layout.endsLine(span.end))
            return refuse("several-statements-a-line",
                          fmt::format("the loop on line {} shares its line",
                                      lineNumber(context_, span.begin)));
        return plan_;
    }

    [[nodiscard]] const FunctionBody& body() const { return host_->body(); }
    [[nodiscard]] const Stmt& loop() const { return body().stmt(plan_.loop); }

    /// The innermost `for` of a block around the launch, if no other statement lies between.
    [[nodiscard]] StmtId loopAround(const LaunchSite& launch) const {
        StmtId found = noId;
        for (StmtId id = 0; id < body().stmts.size(); ++id) {
            const Stmt& stmt = body().stmt(id);
            const bool isInner = found == noId || body().stmt(found).span.contains(stmt.span);
            const bool holds = stmt.span.contains(launch.span) && !stmt.fromMacro;
            if (stmt.kind == StmtKind::For && holds && isInner)
                found = id;
        }
        const bool isInBlock = found != noId && body().stmt(found).parent != noId &&
                               body().stmt(body().stmt(found).parent).kind == StmtKind::Compound;
        return isInBlock ? found : noId;
    }

    Gated<void> requireFresh() const {
        for (const Expr& expr : body().exprs)
            if (expr.kind == ExprKind::Call &&
                (expr.name.contains("BeginCapture") || expr.name.contains("cudaGraph")))
                return refuse("already-a-graph",
                              fmt::format("line {} uses graphs already",
                                          lineNumber(context_, expr.span.begin)));
        return {};
    }

    /// `for (int i = 0; i < known; ++i)`, where i is not used in the body.
    Gated<void> requireCountedLoop() {
        const Stmt& stmt = loop();
        const std::uint32_t line = lineNumber(context_, stmt.span.begin);
        const auto refusal = [&] {
            return refuse("rounds-unknown",
                          fmt::format("how often the loop on line {} goes round is not known from "
                                      "`for (int i = 0; i < number; ++i)`",
                                      line));
        };
        if (stmt.init == noId || stmt.condition == noId || stmt.increment == noId ||
            body().stmt(stmt.init).declared.size() != 1)
            return refusal();
        const VariableId counter = body().stmt(stmt.init).declared.front();
        const Variable& variable = body().variable(counter);
        const Expr& condition = body().expr(stmt.condition);
        const Expr& increment = body().expr(stmt.increment);
        const bool isCounted = condition.kind == ExprKind::Binary && condition.op == "<" &&
                               !condition.fromMacro &&
                               host_->namedVariable(condition.children[0]) == counter &&
                               variable.init != noId && host_->constantValue(variable.init) == 0 &&
                               increment.kind == ExprKind::Unary && increment.op.contains("++") &&
                               host_->namedVariable(increment.children.front()) == counter;
        if (!isCounted)
            return refusal();
        plan_.limit = condition.children[1];
        const auto rounds = host_->constantValue(plan_.limit);
        if (!rounds)
            return refusal();
        plan_.rounds = *rounds;
        for (const ExprId use : host_->uses(counter))
            if (host_->holds(stmt.children.back(), use))
                return refuse("step-used",
                              fmt::format("the work of line {} depends on {}, which a graph would "
                                          "keep as it was",
                                          lineNumber(context_, body().expr(use).span.begin),
                                          variable.name));
        return {};
    }

    /// Launches, swaps of pointers and checks for errors alone.
    Gated<void> readBody() {
        const std::vector<StmtId> statements = host_->statementsOf(loop().children.back());
        for (std::size_t i = 0; i < statements.size(); ++i) {
            const Stmt& stmt = body().stmt(statements[i]);
            if (readExchange(statements, i)) {
                i += 2;
                continue;
            }
            if (stmt.kind == StmtKind::Null || isErrorCheck(*context_.file.source, stmt))
                continue;
            if (stmt.kind == StmtKind::Expression && !stmt.fromMacro) {
                if (const LaunchSite* launch = launchAt(context_.file, plan_.host, stmt.expr)) {
                    KERNELSKILL_CHECK(requirePlainLaunch(*launch));
                    plan_.launches.push_back(launch);
                    continue;
                }
                if (readSwap(body().expr(stmt.expr)))
                    continue;
            }
            return refuse("host-work-in-loop",
                          fmt::format("line {} is neither a launch nor a swap of two pointers",
                                      lineNumber(context_, stmt.span.begin)));
        }
        if (plan_.launches.empty())
            return refuse("not-in-a-loop", "the loop launches nothing on its own level");
        const StmtKind kind = body().stmt(loop().children.back()).kind;
        if (kind != StmtKind::Compound && kind != StmtKind::Expression)
            return refuse("host-work-in-loop", "the loop's body is not a block");
        return {};
    }

    Gated<void> requirePlainLaunch(const LaunchSite& launch) {
        const std::uint32_t line = lineNumber(context_, launch.span.begin);
        std::vector<ExprId> values = launch.arguments;
        for (const ExprId id : {launch.grid, launch.block, launch.sharedBytes, launch.stream})
            if (id != noId)
                values.push_back(id);
        for (const ExprId value : values)
            for (const ExprId id : host_->expressionsBelow(value)) {
                const Expr& expr = body().expr(id);
                const bool isPlain =
                    expr.kind == ExprKind::Integer || expr.kind == ExprKind::Floating ||
                    expr.kind == ExprKind::Cast || expr.kind == ExprKind::InitList ||
                    expr.kind == ExprKind::Conditional || isPlainMember(expr) ||
                    (expr.kind == ExprKind::Variable && isFixed(expr)) ||
                    (expr.kind == ExprKind::Unary && (expr.op == "-" || expr.op == "!")) ||
                    (expr.kind == ExprKind::Binary && !isAssignment(expr.op));
                if (!isPlain)
                    return refuse("argument-not-plain",
                                  fmt::format("{} in the launch on line {} may be another value in "
                                              "another round",
                                              context_.file.source->slice(expr.span), line));
            }
        const ExprId stream = launch.stream == noId || host_->constantValue(launch.stream) == 0
                                  ? noId
                                  : launch.stream;
        const bool isOther = !plan_.launches.empty() && (stream == noId) != (plan_.stream == noId);
        if (isOther || (stream != noId && plan_.stream != noId &&
                        !host_->sameExpression(stream, plan_.stream)))
            return refuse("several-streams",
                          fmt::format("the launch on line {} is in another stream", line));
        plan_.stream = stream;
        return {};
    }

    [[nodiscard]] static bool isPlainMember(const Expr& expr) {
        return expr.kind == ExprKind::Member && !expr.isArrow && !expr.isMethod;
    }

    /// A local or parameter: the loop's swaps are all that happens to it.
    [[nodiscard]] static bool isOwn(const Variable& variable) {
        return (variable.storage == Storage::Local || variable.storage == Storage::Parameter) &&
               !variable.type.isReference && variable.type.arrayExtents.empty();
    }

    [[nodiscard]] bool isFixed(const Expr& expr) const {
        if (expr.variable == noId)
            return false;
        const Variable& variable = body().variable(expr.variable);
        return variable.constantValue || isOwn(variable);
    }

    /// `float* t = a; a = b; b = t;`
    bool readExchange(const std::vector<StmtId>& statements, std::size_t first) {
        if (first + 2 >= statements.size())
            return false;
        const Stmt& declaration = body().stmt(statements[first]);
        if (declaration.kind != StmtKind::Declaration || declaration.declared.size() != 1)
            return false;
        const VariableId held = declaration.declared.front();
        const auto assigned = [&](std::size_t place) -> std::array<VariableId, 2> {
            const Stmt& stmt = body().stmt(statements[place]);
            const bool isExpression = stmt.kind == StmtKind::Expression && stmt.expr != noId;
            if (!isExpression || body().expr(stmt.expr).op != "=")
                return {noId, noId};
            const Expr& expr = body().expr(stmt.expr);
            return {host_->namedVariable(expr.children[0]), host_->namedVariable(expr.children[1])};
        };
        const auto [a, b] = assigned(first + 1);
        const ExprId init = body().variable(held).init;
        const bool isExchange = a != noId && b != noId && init != noId &&
                                host_->namedVariable(init) == a &&
                                assigned(first + 2) == std::array{b, held} && isPointer(a) &&
                                isPointer(b) && isPointer(held);
        if (isExchange)
            swaps_.push_back({a, b});
        return isExchange;
    }

    [[nodiscard]] bool isPointer(VariableId id) const {
        const Variable& variable = body().variable(id);
        return isOwn(variable) && variable.type.pointerDepth > 0;
    }

    bool readSwap(const Expr& call) {
        if (!isStandardSwap(*context_.file.source, call))
            return false;
        std::array<VariableId, 2> swapped{};
        for (std::size_t i = 0; i < swapped.size(); ++i) {
            swapped[i] = host_->namedVariable(call.children[i]);
            if (swapped[i] == noId || !isPointer(swapped[i]))
                return false;
        }
        swaps_.push_back(swapped);
        return true;
    }

    /// Rounds after which every pointer is where it was.
    [[nodiscard]] std::int64_t period() const {
        std::map<VariableId, VariableId> holds;
        for (const auto& [a, b] : swaps_) {
            holds[a] = a;
            holds[b] = b;
        }
        for (std::int64_t rounds = 1; rounds <= maxPeriod; ++rounds) {
            for (const auto& [a, b] : swaps_)
                std::swap(holds[a], holds[b]);
            if (std::ranges::all_of(holds,
                                    [](const auto& place) { return place.first == place.second; }))
                return rounds;
        }
        return plan_.rounds + 1; // more than there are
    }

    Gated<void> requireShortKernels() const {
        for (const LaunchSite* launch : plan_.launches) {
            const KernelModel& kernel = *kernelOf(context_.file, *launch);
            const SkillContext other(context_.file, kernel, context_.features, kernel.span);
            const LaunchValues values(other.shared(), *launch);
            double threads = 1;
            for (const auto& extent : {values.grid(), values.block()})
                for (const auto& axis : extent)
                    threads *= static_cast<double>(axis.value_or(1));
            double bytes = 0;
            for (const MemoryAccess& access : kernel.accesses) {
                if (access.space == MemorySpace::Shared || access.space == MemorySpace::Local)
                    continue;
                double rounds = 1;
                for (const std::uint32_t number : access.loops)
                    rounds *= static_cast<double>(values.rounds(kernel.loops[number]).value_or(1));
                bytes += rounds * access.width;
            }
            if (threads * bytes > longKernelBytes)
                return refuse("kernels-too-long",
                              fmt::format("{} requests {:.0f} MB a launch: the GPU is busy "
                                          "while the host launches the next",
                                          kernel.name, threads * bytes / 1e6));
        }
        return {};
    }

    const SkillContext& context_;
    const CodeMap* host_ = nullptr;
    ReplayPlan plan_;
    std::vector<std::array<VariableId, 2>> swaps_;
};

} // namespace

std::optional<ReplayCost> cheapestReplay(std::int64_t rounds, std::int64_t launches,
                                         std::int64_t period) {
    constexpr std::int64_t maxNodes = 256;
    ReplayCost best{0, rounds * launches, rounds * launches / 2};
    for (std::int64_t steps = period; steps * launches <= maxNodes && steps * 2 <= rounds;
         steps += period) {
        if (steps < 2)
            continue;
        const std::int64_t calls =
            2 * steps * launches + rounds / steps + rounds % steps * launches;
        if (calls < best.callsAfter) {
            best.stepsInGraph = steps;
            best.callsAfter = calls;
        }
    }
    return best.stepsInGraph == 0 ? std::nullopt : std::optional(best);
}

Gated<ReplayPlan> planReplay(const SkillContext& context) {
    return ReplayPlanner(context).plan();
}

} // namespace kernelskill::skills
