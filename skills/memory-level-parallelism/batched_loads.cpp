#include "skills/memory-level-parallelism/batched_loads.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/counted_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::size_t maxLoads = 4;   ///< Four rounds of them are 16 registers or more.
constexpr std::int64_t minRounds = 8; ///< The min rounds of a loop that is worth batching.

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()) {}

    Gated<BatchedLoop> find() const {
        KERNELSKILL_CHECK(requireEditable(context_));
        return chooseLoop(context_, code_, [&](std::uint32_t loop) { return study(loop); });
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] Gated<BatchedLoop> study(std::uint32_t index) const {
        const Loop& loop = kernel_.loops[index];
        BatchedLoop batched;
        batched.loop = index;
        KERNELSKILL_CHECK(readShape(loop, batched));
        KERNELSKILL_CHECK(requirePlainBody(loop));
        KERNELSKILL_CHECK(requireOwnLines(context_, code_, loop));
        collectLoads(loop, batched);
        if (batched.loads.empty())
            return refuse("no-load-to-batch",
                          fmt::format("no round of the loop on line {} loads an element of global "
                                      "memory in any case, at a place that its index alone decides",
                                      line(body_.stmt(loop.statement).span)));
        if (batched.loads.size() > maxLoads)
            return refuse("too-many-loads",
                          fmt::format("each round of the loop on line {} loads {} elements; four "
                                      "rounds of them take too many registers",
                                      line(body_.stmt(loop.statement).span), batched.loads.size()));
        KERNELSKILL_CHECK(requireFreeOrder(loop, batched));
        return batched;
    }

    [[nodiscard]] Gated<void> readShape(const Loop& loop, BatchedLoop& batched) const {
        const Stmt& stmt = body_.stmt(loop.statement);
        KERNELSKILL_TRY(const auto counted, readCountedLoop(context_, code_, batched.loop));
        if (!stmt.pragma.empty())
            return refuse("already-unrolled", fmt::format("the loop on line {} has a pragma about "
                                                          "unrolling",
                                                          line(stmt.span)));
        batched.start = counted.start;
        batched.limit = counted.limit;
        batched.step = counted.step;
        if (loop.tripCount && *loop.tripCount < minRounds)
            return refuse("short-loop", fmt::format("the loop on line {} has {} rounds",
                                                    line(stmt.span), *loop.tripCount));
        return {};
    }

    [[nodiscard]] Gated<void> requirePlainBody(const Loop& loop) const {
        for (const StmtId id : code_.statementsIn(loop.body)) {
            const Stmt& stmt = body_.stmt(id);
            switch (stmt.kind) {
            case StmtKind::Compound:
            case StmtKind::Declaration:
            case StmtKind::Expression:
            case StmtKind::If:
            case StmtKind::Null:
            case StmtKind::Continue:
                break;
            case StmtKind::For:
            case StmtKind::While:
            case StmtKind::Do:
            case StmtKind::RangeFor:
                return refuse("not-innermost",
                              fmt::format("another loop is inside, on line {}", line(stmt.span)));
            default:
                return refuse("early-exit",
                              fmt::format("line {} may end the loop early", line(stmt.span)));
            }
        }
        for (const ExprId id : code_.expressionsIn(loop.body)) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Call && !isKnownCall(context_.file, context_.kernel, expr))
                return refuse("call-in-loop",
                              fmt::format("what {} on line {} does to memory is not known",
                                          expr.name, line(expr.span)));
        }
        return {};
    }

    void collectLoads(const Loop& loop, BatchedLoop& batched) const {
        for (const MemoryAccess& access : kernel_.accesses) {
            if (access.kind != AccessKind::Read || access.space != MemorySpace::Global ||
                access.expression == noId || !code_.holds(loop.body, access.expression))
                continue;
            const Expr& element = body_.expr(access.expression);
            if (element.kind != ExprKind::Subscript || element.fromMacro ||
                element.type.isVolatile || element.type.pointerDepth > 0 ||
                valueSpelling(element.type).empty() || !isAlways(loop, access.expression) ||
                !isAddressFixed(loop, element) || isWritten(access.expression))
                continue;
            const auto same = std::ranges::find_if(batched.loads, [&](const BatchedLoad& known) {
                return code_.sameExpression(known.element, access.expression);
            });
            if (same != batched.loads.end()) {
                same->again.push_back(access.expression);
                continue;
            }
            batched.loads.push_back({access.expression,
                                     code_.namedVariable(element.children[0]),
                                     valueSpelling(element.type),
                                     {}});
        }
    }

    /// `x[i]` of `x[i] += 1` or `&x[i]`.
    [[nodiscard]] bool isWritten(ExprId element) const {
        const ExprId parent = code_.parent(element);
        if (parent == noId)
            return false;
        const Expr& above = body_.expr(parent);
        if (above.kind == ExprKind::Unary)
            return above.op == "&" || above.op.contains("++") || above.op.contains("--");
        return above.kind == ExprKind::Binary && isAssignment(above.op) &&
               above.children[0] == element;
    }

    /// Every round evaluates `expr`.
    [[nodiscard]] bool isAlways(const Loop& loop, ExprId expr) const {
        for (ExprId at = expr, parent = code_.parent(expr); parent != noId;
             at = parent, parent = code_.parent(parent)) {
            const Expr& above = body_.expr(parent);
            const bool mayBeSkipped =
                above.kind == ExprKind::Conditional ||
                (above.kind == ExprKind::Binary && (above.op == "&&" || above.op == "||"));
            if (mayBeSkipped && above.children[0] != at)
                return false;
            if (above.kind == ExprKind::Other)
                return false;
        }
        for (StmtId at = code_.statement(expr); at != noId && at != loop.body;
             at = body_.stmt(at).parent) {
            const StmtId parent = body_.stmt(at).parent;
            if (parent != noId && body_.stmt(parent).kind == StmtKind::If &&
                parent != loop.statement)
                return false;
            // A `continue` before it leaves it out.
            if (parent != noId)
                for (const StmtId sibling : body_.stmt(parent).children)
                    if (body_.stmt(sibling).span.end <= body_.stmt(at).span.begin &&
                        code_.encloses(loop.body, sibling) && continues(sibling))
                        return false;
        }
        return true;
    }

    [[nodiscard]] bool continues(StmtId stmt) const {
        return std::ranges::any_of(code_.statementsIn(stmt), [&](StmtId id) {
            return body_.stmt(id).kind == StmtKind::Continue;
        });
    }

    /// The place depends on the loop's index and on nothing that the loop computes.
    [[nodiscard]] bool isAddressFixed(const Loop& loop, const Expr& element) const {
        const VariableId base = code_.namedVariable(element.children[0]);
        if (base == noId || body_.expr(element.children[0]).kind != ExprKind::Variable)
            return false;
        bool usesIndex = false;
        for (const ExprId id : code_.expressionsBelow(element.children[1]))
            usesIndex |= body_.expr(id).kind == ExprKind::Variable &&
                         body_.expr(id).variable == loop.inductionVariable;
        return usesIndex && isFixedOutside(code_, loop, element.children[0]) &&
               isFixedOutside(code_, loop, element.children[1]);
    }

    /// The loads of later rounds may go before the stores of earlier ones, and the compiler does
    /// not see that by itself.
    [[nodiscard]] Gated<void> requireFreeOrder(const Loop& loop, const BatchedLoop& batched) const {
        bool writes = false;
        for (const MemoryAccess& access : kernel_.accesses) {
            const bool isWrite = access.kind != AccessKind::Read;
            if (!isWrite || access.expression == noId ||
                !code_.holds(loop.body, access.expression) || access.space == MemorySpace::Shared ||
                access.space == MemorySpace::Local)
                continue;
            writes = true;
            for (const BatchedLoad& load : batched.loads)
                KERNELSKILL_CHECK(requireApart(loop, access, load));
        }
        const bool isReadOnly = std::ranges::all_of(batched.loads, [&](const BatchedLoad& load) {
            const Type& type = body_.variable(load.base).type;
            return type.isRestrict && type.pointeeConst;
        });
        if (loop.step && (!writes || isReadOnly))
            return refuse("compiler-may-reorder",
                          fmt::format("nothing keeps the compiler from unrolling the loop on line "
                                      "{} and loading first",
                                      line(body_.stmt(loop.statement).span)));
        return {};
    }

    [[nodiscard]] Gated<void> requireApart(const Loop& loop, const MemoryAccess& write,
                                           const BatchedLoad& load) const {
        if (write.base != load.base) {
            if (write.base == noId)
                return refuse("may-alias", fmt::format("where line {} writes is not known",
                                                       line(body_.expr(write.expression).span)));
            return requireDistinctMemory(context_, write.base, load.base);
        }
        // In place: each round its own element, which no other round touches.
        const auto index = polynomialOf(code_, body_.expr(load.element).children[1]);
        const auto factor = index
                                ? index->coefficientOf({SymbolKind::Opaque, loop.inductionVariable})
                                : std::nullopt;
        const auto number = factor ? factor->asConstant() : std::nullopt;
        if (code_.sameExpression(write.expression, load.element) && number && *number != 0)
            return {};
        return refuse("may-alias", fmt::format("line {} writes {}, which later rounds may load",
                                               line(body_.expr(write.expression).span),
                                               body_.variable(load.base).name));
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<BatchedLoop> findBatchedLoop(const SkillContext& context, const CodeMap& code) {
    return Finder(context, code).find();
}

} // namespace kernelskill::skills
