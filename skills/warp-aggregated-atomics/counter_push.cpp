#include "skills/warp-aggregated-atomics/counter_push.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/schedule/draft.h"
#include "skills/warp-aggregated-atomics/kept_locals.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The places that a block takes have to fit an int.
constexpr std::int64_t maxFixedAmount = 1 << 16;

class Finder {
public:
    explicit Finder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          layout_(*context.file.source, context.kernel) {}

    [[nodiscard]] Gated<CounterPush> find() const {
        std::optional<Gated<CounterPush>> chosen;
        for (const Atomic& atomic : kernel_.atomics) {
            auto found = study(atomic);
            if (context_.isCursorAt(body_.expr(atomic.call).span))
                return found;
            if (!chosen || (found && !*chosen))
                chosen = std::move(found);
        }
        if (chosen)
            return std::move(*chosen);
        return refuse("no-atomic", fmt::format("{} has no atomic", kernel_.name));
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] Gated<CounterPush> study(const Atomic& atomic) const {
        CounterPush push;
        KERNELSKILL_CHECK(readAtomic(atomic, push));
        KERNELSKILL_CHECK(requireManyThreads(context_, push.call));
        KERNELSKILL_CHECK(requireNoOrder(context_));
        KERNELSKILL_CHECK(readCode(push));
        KERNELSKILL_TRY(push.earlyReturns, findEarlyReturns(context_, code_));
        KERNELSKILL_CHECK(requireEnd(push));
        const StmtId guard = push.earlyReturns.empty() ? noId : push.earlyReturns.front().guard;
        const VariableId base = kernel_.accesses[atomic.access].base;
        if (!isSameForBlock(context_, base, guard, push.address))
            return refuse("counter-differs",
                          fmt::format("threads of a block may update different counters on line {}",
                                      line(body_.expr(push.call).span)));
        KERNELSKILL_CHECK(requireSeparate(push));
        KERNELSKILL_TRY(push.kept, keptLocals(context_, push.behind, push.outermost, guard));
        push.launched = launchedThreads(context_);
        KERNELSKILL_TRY(push.lanes, requireLanes(context_));
        for (const Parameter& parameter : kernel_.parameters)
            if (parameter.isWritten)
                KERNELSKILL_CHECK(requireDistinctInputs(context_, parameter.variable));
        return push;
    }

    /// Reads which number the atomic adds to which counter.
    Gated<void> readAtomic(const Atomic& atomic, CounterPush& push) const {
        const Expr& call = body_.expr(atomic.call);
        const std::uint32_t at = line(call.span);
        const bool isKnown =
            atomic.access < kernel_.accesses.size() && kernel_.accesses[atomic.access].base != noId;
        const StmtId statement = code_.statement(atomic.call);
        const std::string_view name = unqualified(call.name);
        if (statement == noId || (code_.parent(atomic.call) == noId &&
                                  body_.stmt(statement).kind == StmtKind::Expression))
            return refuse("result-unused",
                          fmt::format("nothing uses what {} on line {} returns", call.name, at));
        const bool isCount =
            name == "atomicInc" && call.children.size() == 2 && isLargestUnsigned(call.children[1]);
        if (call.children.size() != 2 || (name != "atomicAdd" && name != "atomicSub" && !isCount))
            return refuse("not-a-counter",
                          fmt::format("{} on line {} does not add to a counter", call.name, at));
        if (call.fromMacro || body_.stmt(statement).fromMacro)
            return refuse("from-macro",
                          fmt::format("the atomic on line {} comes out of a macro", at));
        if (!isKnown || kernel_.accesses[atomic.access].space != MemorySpace::Global)
            return refuse(
                "not-global",
                fmt::format("the counter on line {} is not known to be in global memory", at));
        const Variable& base = body_.variable(kernel_.accesses[atomic.access].base);
        const Type& type =
            updatedType(body_, kernel_.accesses[atomic.access].base, call.children[0]);
        const bool isInteger =
            type.scalar == ScalarKind::Int32 || type.scalar == ScalarKind::UInt32 ||
            type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64;
        if (!isInteger || type.lanes != 1 || type.isDependent || type.pointerDepth > 1)
            return refuse("element-type",
                          fmt::format("the counter on line {} is no plain integer", at));
        push.call = atomic.call;
        push.address = call.children[0];
        push.amount = isCount ? noId : call.children[1];
        push.isSubtraction = name == "atomicSub";
        push.function = isCount ? "atomicAdd" : call.name;
        push.element = pointeeSpelling(type);
        push.counter = base.name;
        const auto amount =
            isCount ? std::optional<std::int64_t>(1) : code_.constantValue(call.children[1]);
        push.hasFixedAmount = amount && *amount > 0 && *amount <= maxFixedAmount;
        push.isCombined = push.hasFixedAmount || type.scalar == ScalarKind::Int32 ||
                          type.scalar == ScalarKind::UInt32;
        return requireOnlyUse(kernel_.accesses[atomic.access].base, push);
    }

    [[nodiscard]] bool isLargestUnsigned(ExprId expr) const {
        const auto value = code_.constantValue(expr);
        return value && (*value == 0xffffffff || *value == -1);
    }

    [[nodiscard]] Gated<void> requireOnlyUse(VariableId base, const CounterPush& push) const {
        ContendedUpdates updates;
        updates.base = base;
        UpdateSite site;
        site.call = push.call;
        site.address = push.address;
        updates.sites.push_back(std::move(site));
        return requireUnseen(context_, updates);
    }

    /// Reads the conditions around the atomic, and the code behind it.
    Gated<void> readCode(CounterPush& push) const {
        const StmtId statement = code_.statement(push.call);
        const Stmt& own = body_.stmt(statement);
        if (own.kind != StmtKind::Expression && own.kind != StmtKind::Declaration &&
            own.kind != StmtKind::If)
            return refuse("in-loop", fmt::format("the statement on line {} is a loop or leaves one",
                                                 line(own.span)));
        for (ExprId at = push.call; at != noId; at = code_.parent(at))
            if (code_.mayBeSkipped(at))
                return refuse("in-condition",
                              fmt::format("whether the atomic on line {} runs is decided within an "
                                          "expression",
                                          line(own.span)));
        KERNELSKILL_TRY(push.behind, fromStatement(statement));
        StmtId at = statement;
        while (body_.stmt(at).parent != body_.root) {
            const StmtId parent = body_.stmt(at).parent;
            if (parent == noId)
                return refuse("in-loop", fmt::format("line {} is not understood", line(own.span)));
            const Stmt& around = body_.stmt(parent);
            if (around.kind == StmtKind::Compound) {
                if (at != statement && around.children.back() != at)
                    return refuse("work-behind",
                                  fmt::format("code follows the condition that ends on line {}",
                                              lineNumber(context_, body_.stmt(at).span.end - 1)));
            } else if (around.kind != StmtKind::If || around.fromMacro) {
                return refuse("in-loop",
                              fmt::format("the atomic on line {} is in a loop or a switch, whose "
                                          "rounds differ among threads",
                                          line(body_.expr(push.call).span)));
            } else if (around.init != noId || !around.declared.empty()) {
                return refuse("declaration", fmt::format("the condition on line {} declares a name",
                                                         line(around.span)));
            }
            at = parent;
        }
        push.outermost = at;
        return {};
    }

    /// Returns the statement and those behind it in its block.
    [[nodiscard]] Gated<std::vector<StmtId>> fromStatement(StmtId statement) const {
        const Stmt& parent = body_.stmt(body_.stmt(statement).parent);
        std::vector<StmtId> behind{statement};
        if (parent.kind == StmtKind::Compound)
            behind.assign(std::ranges::find(parent.children, statement), parent.children.end());
        const bool standsAlone = parent.kind == StmtKind::Compound
                                     ? hasOwnLines(body_, layout_, behind.front(), behind.back())
                                     : layout_.endsLine(body_.stmt(statement).span.end);
        if (!standsAlone)
            return refuse("several-statements-a-line",
                          fmt::format("line {} holds more than one statement",
                                      line(body_.stmt(statement).span)));
        const Span span{body_.stmt(behind.front()).span.begin, body_.stmt(behind.back()).span.end};
        for (const StmtId id : behind)
            for (const StmtId inner : code_.statementsIn(id))
                if (body_.stmt(inner).kind == StmtKind::Case ||
                    body_.stmt(inner).kind == StmtKind::Return)
                    return refuse("early-exit", fmt::format("line {} ends more than the push",
                                                            line(body_.stmt(inner).span)));
        if (context_.file.source->slice(span).contains("\n#"))
            return refuse("from-macro", fmt::format("a directive stands behind line {}",
                                                    line(body_.stmt(statement).span)));
        return behind;
    }

    [[nodiscard]] bool isBehind(const CounterPush& push, ExprId expr) const {
        return std::ranges::any_of(push.behind, [&](StmtId id) { return code_.holds(id, expr); });
    }

    /// Requires that the push is the last thing in a kernel with early returns, because their
    /// threads come to its barriers after all other code; and that lines can be added.
    [[nodiscard]] Gated<void> requireEnd(const CounterPush& push) const {
        const StmtId last = body_.stmt(body_.root).children.back();
        if (!push.earlyReturns.empty() && push.outermost != last && push.behind.back() != last)
            return refuse(
                "work-behind",
                fmt::format("code follows the condition that ends on line {}",
                            lineNumber(context_, body_.stmt(push.outermost).span.end - 1)));
        std::vector<UpdateSite> sites(1);
        sites.front().call = push.call;
        sites.front().outermost = push.outermost;
        return requireOwnLinesOf(context_, sites);
    }

    /// Requires that the code behind the atomic may run after all threads of the block have reached
    /// the atomic.
    [[nodiscard]] Gated<void> requireSeparate(const CounterPush& push) const {
        const auto waits = [&](ExprId call) {
            return isBehind(push, call)
                       ? refuse("waits-behind", fmt::format("line {} waits for other threads",
                                                            line(body_.expr(call).span)))
                       : Gated<void>{};
        };
        for (const Barrier& barrier : kernel_.barriers)
            KERNELSKILL_CHECK(waits(barrier.call));
        for (const WarpOperation& operation : kernel_.warpOperations)
            KERNELSKILL_CHECK(waits(operation.call));
        std::vector<const MemoryAccess*> written;
        std::vector<const MemoryAccess*> before;
        for (const MemoryAccess& access : kernel_.accesses) {
            if (access.space == MemorySpace::Local ||
                body_.expr(push.address).span.contains(body_.expr(access.expression).span))
                continue;
            if (isBehind(push, access.expression) && access.kind != AccessKind::Read)
                written.push_back(&access);
            else if (!isBehind(push, access.expression) &&
                     (body_.expr(access.expression).span.begin < body_.expr(push.call).span.begin ||
                      code_.holds(push.outermost, access.expression)))
                before.push_back(&access);
        }
        for (const MemoryAccess* write : written)
            for (const MemoryAccess* use : before)
                if (use->base == write->base)
                    return refuse(
                        "reads-written",
                        fmt::format("line {} writes what line {} uses in other threads, before or "
                                    "behind it",
                                    line(body_.expr(write->expression).span),
                                    line(body_.expr(use->expression).span)));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_;
};

} // namespace

Gated<CounterPush> findCounterPush(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return Finder(context).find();
}

} // namespace kernelskill::skills
