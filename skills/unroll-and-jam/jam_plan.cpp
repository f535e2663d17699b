#include "skills/unroll-and-jam/jam_plan.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/order_free.h"
#include "skills/gates/round_values.h"
#include "skills/schedule/statement_effects.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int usualRounds = 4;
constexpr double minGain = 1.1;

class JamPlanner {
public:
    JamPlanner(const SkillContext& context, std::uint32_t index)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          index_(index), loop_(kernel_.loops.at(index)) {}

    Gated<JamPlan> plan() {
        if (std::ranges::find(kernel_.loops, index_, &Loop::parent) == kernel_.loops.end())
            return refuse("no-inner-loop",
                          fmt::format("the loop on line {} has no loop in it", line(loop_)));
        KERNELSKILL_TRY(plan_.outer, readCountingLoop(context_, code_, index_));
        if (loop_.kind != LoopKind::For || plan_.outer.counted.step != noId ||
            plan_.outer.counted.start == noId)
            return refuse("not-counted-up", fmt::format("the loop on line {} does not count its "
                                                        "rounds one by one",
                                                        line(loop_)));
        if (isRest())
            return refuse("is-rest", fmt::format("the loop on line {} runs the rounds that another "
                                                 "one leaves, which takes several at once",
                                                 line(loop_)));
        KERNELSKILL_CHECK(requireOwnLines(context_, code_, loop_));
        KERNELSKILL_CHECK(requireOrderFree(context_, loop_));
        plan_.rounds = loop_.tripCount;
        for (const ExprId use : code_.uses(plan_.outer.index))
            if (code_.holds(loop_.body, use))
                plan_.indexUses.push_back(use);
        const StatementRoles roles(context_, rounds());
        KERNELSKILL_CHECK(requireSharedLoop(roles));
        KERNELSKILL_CHECK(requireApartStores(roles));
        countLoads(roles);
        if (plan_.sharedLoads == 0 || plan_.gain(usualRounds) < minGain)
            return refuse(
                "nothing-shared",
                fmt::format("rounds of the loop on line {} hardly load the same", line(loop_)));
        KERNELSKILL_TRY(plan_.work, partedWork(context_, roles));
        nameLoads(roles);
        return std::move(plan_);
    }

private:
    [[nodiscard]] std::uint32_t line(const Loop& loop) const {
        return lineNumber(context_, body_.stmt(loop.statement).span.begin);
    }
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// Whether the loop goes on where one that counts in larger steps has ended.
    [[nodiscard]] bool isRest() const {
        const VariableId start = code_.namedVariable(plan_.outer.counted.start);
        return start != noId && std::ranges::any_of(kernel_.loops, [&](const Loop& other) {
                   const Stmt& stmt = body_.stmt(other.statement);
                   if (stmt.increment == noId || stmt.parent != body_.stmt(loop_.statement).parent)
                       return false;
                   const Expr& step = body_.expr(stmt.increment);
                   return step.kind == ExprKind::Binary && step.op == "+=" &&
                          code_.namedVariable(step.children[0]) == start &&
                          code_.constantValue(step.children[1]).value_or(1) > 1;
               });
    }

    /// Returns the rounds as parts. A variable that the body changes and that outlives a round
    /// differs between them, unless it is an inner loop's index.
    [[nodiscard]] PartOrigin rounds() const {
        PartOrigin origin{.kind = PartKind::Rounds,
                          .blockAxis = 0,
                          .root = loop_.body,
                          .differing = {plan_.outer.index},
                          .index = plan_.outer.index};
        const StatementEffects effects = effectsOf(context_.file, kernel_, code_, loop_.body);
        for (const VariableId id : effects.writes) {
            const StmtId declaration = code_.declarationOf(id);
            const bool isInside = declaration != noId && code_.encloses(loop_.body, declaration);
            if (!isInside && !countsInnerLoops(kernel_, code_, loop_.body, id))
                origin.differing.insert(id);
        }
        return origin;
    }

    [[nodiscard]] static bool isOpened(const StatementRoles& roles, StmtId id) {
        return roles.roleOf(id) == StatementRole::Opened;
    }

    Gated<void> requireSharedLoop(const StatementRoles& roles) {
        for (std::uint32_t i = 0; i < kernel_.loops.size(); ++i)
            if (code_.encloses(loop_.body, kernel_.loops[i].statement) &&
                isOpened(roles, kernel_.loops[i].statement)) {
                plan_.inner = i;
                return {};
            }
        return refuse("rounds-apart", fmt::format("how the loops inside of the one on line {} go "
                                                  "round differs between its rounds",
                                                  line(loop_)));
    }

    /// Whether the expression stands in a loop that rounds share.
    [[nodiscard]] bool isInSharedLoop(const StatementRoles& roles, ExprId expr) const {
        return std::ranges::any_of(kernel_.loops, [&](const Loop& inner) {
            return isOpened(roles, inner.statement) && code_.holds(inner.statement, expr);
        });
    }

    /// Requires each array that the loop stores to to be used in a single run of its own block:
    /// there, rounds take their turns as before.
    [[nodiscard]] Gated<void> requireApartStores(const StatementRoles& roles) const {
        bool stores = false;
        for (const MemoryAccess& store : kernel_.accesses) {
            if (store.kind == AccessKind::Read || store.space == MemorySpace::Local ||
                !code_.holds(loop_.body, store.expression))
                continue;
            stores = true;
            const auto run = roles.runOf(code_.statement(store.expression));
            const auto isElsewhere = [&](const MemoryAccess& other) {
                return (other.base == store.base || other.base == noId) &&
                       other.space != MemorySpace::Local &&
                       code_.holds(loop_.body, other.expression) &&
                       roles.runOf(code_.statement(other.expression)) != run;
            };
            if (store.base == noId || !run || isInSharedLoop(roles, store.expression) ||
                std::ranges::any_of(kernel_.accesses, isElsewhere))
                return refuse("stores-between",
                              fmt::format("line {} stores what other rounds may load before they "
                                          "get their turn",
                                          line(store.expression)));
        }
        return stores ? requireDistinctWrites(context_) : Gated<void>{};
    }

    void countLoads(const StatementRoles& roles) {
        const auto count = [&](ExprId load) {
            if (!isInSharedLoop(roles, load))
                return;
            const bool isOwn = std::ranges::any_of(code_.expressionsBelow(load), [&](ExprId id) {
                const Expr& expr = body_.expr(id);
                return expr.kind == ExprKind::Variable && expr.variable != noId &&
                       roles.differs(expr.variable);
            });
            if (!isOwn) {
                if (sharedLoads_.empty())
                    plan_.shared = context_.file.source->slice(body_.expr(load).span);
                sharedLoads_.push_back(load);
            }
            ++(isOwn ? plan_.ownLoads : plan_.sharedLoads);
        };
        for (const MemoryAccess& access : kernel_.accesses)
            if (access.kind == AccessKind::Read && access.space != MemorySpace::Local &&
                access.space != MemorySpace::Constant)
                count(access.expression);
        for (const ExprId id : code_.expressionsIn(loop_.body))
            if (isTextureFetch(body_.expr(id)))
                count(id);
    }

    /// Names shared loads that every turn of their run makes first of all, as far as their own text
    /// shows.
    void nameLoads(const StatementRoles& roles) {
        for (const ExprId load : sharedLoads_) {
            const auto run = roles.runOf(code_.statement(load));
            const bool isPartOfOther = std::ranges::any_of(sharedLoads_, [&](ExprId other) {
                const Span around = body_.expr(other).span;
                return other != load && around.contains(body_.expr(load).span);
            });
            if (run && !isPartOfOther && !body_.expr(load).fromMacro &&
                isMadeFirst(plan_.work.runs[*run], load))
                plan_.named.push_back({load, *run});
        }
    }
    /// Whether the load is always made, and needs nothing that the run declares.
    [[nodiscard]] bool isMadeFirst(const PartedRun& run, ExprId load) const {
        const StmtId statement = code_.statement(load);
        if (std::ranges::find(run.statements, statement, &RoledStatement::statement) ==
            run.statements.end())
            return false;
        for (ExprId at = load; at != noId; at = code_.parent(at))
            if (code_.mayBeSkipped(at))
                return false;
        return std::ranges::none_of(code_.expressionsBelow(load), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            const StmtId declaration = expr.kind == ExprKind::Variable && expr.variable != noId
                                           ? code_.declarationOf(expr.variable)
                                           : noId;
            return declaration != noId &&
                   std::ranges::any_of(run.statements, [&](const RoledStatement& each) {
                       return code_.encloses(each.statement, declaration);
                   });
        });
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::uint32_t index_;
    const Loop& loop_;
    JamPlan plan_;
    std::vector<ExprId> sharedLoads_;
};

} // namespace

double JamPlan::gain(int count) const {
    return static_cast<double>(count * (sharedLoads + ownLoads)) / (sharedLoads + count * ownLoads);
}

Gated<JamPlan> jamPlan(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return chooseLoop(
        context, context.code(),
        [&](std::uint32_t index) { return JamPlanner(context, index).plan(); },
        [](std::uint32_t, const Refusal& refusal) {
            return refusal.gate == "no-inner-loop" ? Likeness::None : Likeness::Kind;
        });
}

} // namespace kernelskill::skills
