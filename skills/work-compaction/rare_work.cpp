#include "skills/work-compaction/rare_work.h"

#include "analysis/model/dependence.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/thread_position.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Finder {
public:
    explicit Finder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          dependence_(body_) {}

    Gated<RareWork> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        KERNELSKILL_CHECK(requirePlainKernel());
        KERNELSKILL_CHECK(readGuards());
        KERNELSKILL_CHECK(requireConditions());
        KERNELSKILL_TRY(positions_, editablePositions(context_));
        KERNELSKILL_CHECK(findNumber());
        KERNELSKILL_CHECK(requireWorkOfAnyThread());
        KERNELSKILL_CHECK(readBlock());
        return found_;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] Gated<void> requirePlainKernel() const {
        if (!kernel_.barriers.empty())
            return refuse("barrier",
                          fmt::format("the threads of a block of {} meet on line {}", kernel_.name,
                                      line(body_.expr(kernel_.barriers[0].call).span)));
        for (const Variable& variable : body_.variables)
            if (variable.storage == Storage::Shared || variable.storage == Storage::DynamicShared)
                return refuse("shared-memory",
                              fmt::format("{} has shared memory: {}", kernel_.name, variable.name));
        return {};
    }

    /// Takes an `if` at the end, else the last `if (...) return;` with its neighbours.
    Gated<void> readGuards() {
        std::vector<StmtId> all =
            body_.root == noId ? std::vector<StmtId>{} : code_.statementsOf(body_.root);
        while (!all.empty() && isNothing(all.back()))
            all.pop_back();
        if (all.empty())
            return noRareWork();
        auto first = std::prev(all.end());
        auto last = all.end();
        if (isGuard(all.back()) && !returns(all.back())) {
            work_ = {body_.stmt(all.back()).children[0]};
        } else {
            const auto isReturn = [&](StmtId id) { return isGuard(id) && returns(id); };
            last = std::find_if(all.rbegin(), all.rend(), isReturn).base();
            first = last;
            while (first != all.begin() && isReturn(*std::prev(first)))
                --first;
            if (first == last || last == all.end())
                return noRareWork();
            found_.form = RareForm::Returns;
            work_.assign(last, all.end());
        }
        found_.guards.assign(first, last);
        for (auto before = all.begin(); before != first; ++before)
            KERNELSKILL_CHECK(requireNobodyLeaves(*before));
        return requireOwnLines();
    }

    [[nodiscard]] Gated<void> requireNobodyLeaves(StmtId before) const {
        for (const StmtId id : code_.statementsIn(before)) {
            const StmtKind kind = body_.stmt(id).kind;
            if (kind == StmtKind::Return || kind == StmtKind::Goto || kind == StmtKind::Asm)
                return refuse("no-rare-work",
                              fmt::format("threads that leave on line {} are missing where the "
                                          "threads of a block would meet",
                                          line(body_.stmt(id).span)));
        }
        return {};
    }

    [[nodiscard]] std::unexpected<Refusal> noRareWork() const {
        return refuse("no-rare-work", fmt::format("{} does not end in work that a condition leaves "
                                                  "to some of its threads",
                                                  kernel_.name));
    }

    [[nodiscard]] Gated<void> requireOwnLines() const {
        const SourceLayout layout(*context_.file.source, kernel_);
        if (hasOwnLines(body_, layout, found_.guards.front(), found_.guards.back()))
            return {};
        return refuse("no-rare-work", fmt::format("the condition on line {} shares its lines "
                                                  "with other code",
                                                  line(condition(found_.guards[0]).span)));
    }

    [[nodiscard]] bool isNothing(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Null || (stmt.kind == StmtKind::Return && stmt.expr == noId);
    }

    [[nodiscard]] bool isGuard(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::If && stmt.children.size() == 1 && !stmt.fromMacro &&
               stmt.condition != noId && stmt.init == noId && stmt.declared.empty() &&
               isWrittenAs(*context_.file.source, stmt.span, {"if"});
    }

    [[nodiscard]] bool returns(StmtId guard) const {
        const std::vector<StmtId> inside = code_.statementsOf(body_.stmt(guard).children[0]);
        return inside.size() == 1 && body_.stmt(inside[0]).kind == StmtKind::Return;
    }

    [[nodiscard]] const Expr& condition(StmtId guard) const {
        return body_.expr(body_.stmt(guard).condition);
    }

    [[nodiscard]] Gated<void> requireConditions() const {
        bool isOnData = false;
        for (const StmtId guard : found_.guards) {
            const ExprId id = body_.stmt(guard).condition;
            isOnData |= dependence_.of(id).onData;
            if (!hasNoEffect(code_, id))
                return refuse("condition-has-effect",
                              fmt::format("what the condition on line {} does is not known",
                                          line(body_.expr(id).span)));
        }
        if (!isOnData)
            return refuse("not-data-dependent",
                          fmt::format("no data decides about the work behind line {}: the threads "
                                      "that have it are neighbours",
                                      line(condition(found_.guards[0]).span)));
        const bool hasLoop = std::ranges::any_of(kernel_.loops, [&](const Loop& loop) {
            return isWork(body_.stmt(loop.statement).span);
        });
        if (!hasLoop)
            return refuse(
                "little-work",
                fmt::format("the work behind line {} has no loop: meeting would cost more",
                            line(condition(found_.guards[0]).span)));
        return {};
    }

    [[nodiscard]] bool isWork(Span span) const {
        return std::ranges::any_of(work_,
                                   [&](StmtId id) { return body_.stmt(id).span.contains(span); });
    }

    /// `int i = threadIdx.x + ...`, where the rest is the same for the block.
    Gated<void> findNumber() {
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            if (variable.storage != Storage::Local || !isIndexType(variable.type) ||
                variable.type.isReference || variable.init == noId || code_.isEverWritten(id) ||
                dependence_.of(variable.init).onData || code_.declarationOf(id) == noId ||
                body_.stmt(code_.declarationOf(id)).parent != body_.root)
                continue;
            const auto value = polynomialOf(code_, variable.init);
            if (!value || !isNumber(*value))
                continue;
            if (std::ranges::none_of(code_.uses(id),
                                     [&](ExprId use) { return isWork(body_.expr(use).span); }))
                continue;
            if (found_.form == RareForm::Returns && variable.type.isConst)
                return refuse("thread-number", fmt::format("{} is const, and would have to be "
                                                           "another thread's number",
                                                           variable.name));
            found_.number = id;
            return {};
        }
        return refuse("thread-number",
                      fmt::format("no local of {} holds the number of the thread, by which the "
                                  "work behind line {} knows what to do",
                                  kernel_.name, line(condition(found_.guards[0]).span)));
    }

    /// threadIdx.x, and what all threads of a block have in common.
    [[nodiscard]] static bool isNumber(const IndexExpression& value) {
        const auto isThread = [](const Symbol& symbol) {
            return symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::Opaque;
        };
        const IndexExpression rest = value - IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
        return std::ranges::none_of(rest.terms(), [&](const auto& term) {
            return std::ranges::any_of(term.first, isThread);
        });
    }

    /// The thread that takes over work must find all that it needs.
    [[nodiscard]] Gated<void> requireWorkOfAnyThread() const {
        for (const ExprId position : positions_) {
            const Expr& expr = body_.expr(position);
            if (expr.name == "threadIdx" && isWork(expr.span))
                return usesValue(expr.span, "threadIdx");
        }
        for (const StmtId work : work_)
            for (const ExprId id : code_.expressionsIn(work)) {
                const Expr& expr = body_.expr(id);
                if (expr.kind == ExprKind::Other)
                    return refuse("uses-thread-value",
                                  fmt::format("what line {} does is not known", line(expr.span)));
                if (expr.kind != ExprKind::Variable || expr.variable == noId)
                    continue;
                const Variable& variable = body_.variable(expr.variable);
                const StmtId declaration = code_.declarationOf(expr.variable);
                if (expr.variable == found_.number) {
                    if (expr.fromMacro)
                        return usesValue(expr.span, "the thread's number in a macro");
                    continue;
                }
                if (declaration != noId && isWork(body_.stmt(declaration).span))
                    continue;
                const bool isOwn =
                    variable.storage == Storage::Local &&
                    (code_.isEverWritten(expr.variable) || !variable.type.arrayExtents.empty() ||
                     dependence_.of(id).onThread || dependence_.of(id).onData);
                if (isOwn ||
                    (variable.storage == Storage::Parameter && code_.isEverWritten(expr.variable)))
                    return usesValue(expr.span, variable.name);
            }
        return {};
    }

    [[nodiscard]] std::unexpected<Refusal> usesValue(Span place, std::string_view what) const {
        return refuse(
            "uses-thread-value",
            fmt::format("line {} uses {}, which each thread has for itself", line(place), what));
    }

    /// Takes the largest block of the launches, which have threads along x alone.
    Gated<void> readBlock() {
        std::int64_t most = 0;
        for (const LaunchSite& launch : kernel_.launches) {
            const KnownExtents block =
                launch.host == noId
                    ? KnownExtents{}
                    : FixedValues(context_.shared().host(launch.host)).extents(launch.block);
            if (block[1] != 1 || block[2] != 1)
                return refuse("unknown-block",
                              fmt::format("the launch on {} does not say that its blocks have "
                                          "threads along x alone",
                                          placeOf(context_, launch)));
            most = std::max(most, block[0].value_or(found_.threads));
        }
        if (most == 0)
            return refuse("unknown-block",
                          fmt::format("no launch of {} in this file says that its blocks have "
                                      "threads along x alone",
                                      kernel_.name));
        found_.threads = most;
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    DependenceAnalysis dependence_;
    std::vector<ExprId> positions_;
    std::vector<StmtId> work_;
    RareWork found_;
};

} // namespace

Gated<RareWork> findRareWork(const SkillContext& context) {
    return Finder(context).find();
}

} // namespace kernelskill::skills
