#include "skills/gates/staged_loop.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/block_collective.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()) {}

    [[nodiscard]] Gated<StagedLoop> study(std::uint32_t index) const {
        const Loop& loop = kernel_.loops[index];
        if (barriersIn(loop) == 0)
            return refuse("no-barrier", fmt::format("no barrier is in the loop on line {}",
                                                    line(body_.stmt(loop.statement).span)));
        if (barriersIn(loop) == 1)
            return refuse("one-barrier",
                          fmt::format("a round of the loop on line {} has one barrier: its tile is "
                                      "not the only one, or is overwritten while it is used",
                                      line(body_.stmt(loop.statement).span)));
        KERNELSKILL_TRY(const auto counted, readCountedLoop(context_, code_, index));
        KERNELSKILL_CHECK(requireStartWithoutEffect(context_, code_, counted));
        StagedLoop staged;
        staged.counted = counted;
        if (loop.tripCount && *loop.tripCount < 2)
            return refuse("short-loop", fmt::format("the loop on line {} has one round",
                                                    line(body_.stmt(loop.statement).span)));
        if (loop.hasEarlyExit)
            return refuse(
                "early-exit",
                fmt::format("the loop on line {} may end before its limit, where the next "
                            "tile need not exist",
                            line(body_.stmt(loop.statement).span)));
        KERNELSKILL_CHECK(readPhases(loop, staged));
        KERNELSKILL_CHECK(requireEarlyValues(loop, staged));
        KERNELSKILL_CHECK(requireUnchangedSources(loop, staged));
        KERNELSKILL_CHECK(requireOwnLines(context_, code_, loop));
        KERNELSKILL_CHECK(requireStatementsApart(staged));
        return staged;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] const Barrier* barrierOf(ExprId call) const {
        const auto found = std::ranges::find(kernel_.barriers, call, &Barrier::call);
        return found == kernel_.barriers.end() ? nullptr : &*found;
    }

    [[nodiscard]] bool isBlockBarrier(StmtId id) const {
        return skills::isBlockBarrier(kernel_, id);
    }

    [[nodiscard]] std::ptrdiff_t barriersIn(const Loop& loop) const {
        return std::ranges::count_if(code_.statementsOf(loop.body),
                                     [&](StmtId id) { return isBlockBarrier(id); });
    }

    /// Declarations and copies into shared memory, the barrier, and the rest.
    Gated<void> readPhases(const Loop& loop, StagedLoop& staged) const {
        bool anyCopy = false;
        for (const StmtId id : code_.statementsOf(loop.body)) {
            const Stmt& stmt = body_.stmt(id);
            if (staged.barrier != noId) {
                staged.use.push_back(id);
                continue;
            }
            if (isBlockBarrier(id)) {
                if (anyCopy)
                    staged.barrier = id;
                continue; // one before the copies ends the round before
            }
            if (stmt.fromMacro)
                return refuse("from-macro",
                              fmt::format("line {} comes out of a macro", line(stmt.span)));
            if (stmt.kind == StmtKind::Declaration) {
                staged.declarations.push_back(id);
                continue;
            }
            const MemoryAccess* target = sharedTarget(stmt);
            if (target == nullptr)
                return refuse("not-plainly-staged",
                              fmt::format("line {} does more than copy an element into shared "
                                          "memory ahead of the barrier",
                                          line(stmt.span)));
            anyCopy = true;
            const Expr& assignment = body_.expr(stmt.expr);
            if (!readsGlobalMemory(assignment.children[1]))
                continue;
            const std::string type = elementType(*target);
            if (type.empty())
                return refuse("unknown-type",
                              fmt::format("the type of what line {} copies is not written in the "
                                          "kernel",
                                          line(stmt.span)));
            staged.elements.push_back(
                {id, assignment.children[1], body_.variable(target->base).name, type});
        }
        if (staged.barrier == noId || staged.elements.empty())
            return refuse("nothing-staged",
                          fmt::format("no round of the loop on line {} copies global memory into "
                                      "shared memory ahead of a barrier",
                                      line(body_.stmt(loop.statement).span)));
        if (!computes(staged))
            return refuse("nothing-computed",
                          fmt::format("nothing follows the barrier on line {} that a load could be "
                                      "under way beside",
                                      line(body_.stmt(staged.barrier).span)));
        return {};
    }

    /// As a local of it is declared; empty where that is not known. The parser knows no type for
    /// the elements of an array whose extent is a template parameter; its declaration names it.
    [[nodiscard]] std::string elementType(const MemoryAccess& target) const {
        std::string type = valueSpelling(body_.expr(target.expression).type);
        const Type& array = body_.variable(target.base).type;
        if (type.contains('<') && array.pointerDepth == 0)
            type = elementSpelling(array);
        while (type.ends_with(' '))
            type.pop_back();
        return type.contains("dependent") || type.contains('[') ? std::string{} : type;
    }

    /// The element of `shared[...] = value;`; nullptr for other statements.
    [[nodiscard]] const MemoryAccess* sharedTarget(const Stmt& stmt) const {
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId)
            return nullptr;
        const Expr& assignment = body_.expr(stmt.expr);
        if (assignment.kind != ExprKind::Binary || assignment.op != "=")
            return nullptr;
        const auto found =
            std::ranges::find(kernel_.accesses, assignment.children[0], &MemoryAccess::expression);
        const bool fits = found != kernel_.accesses.end() && found->base != noId &&
                          found->kind == AccessKind::Write && found->space == MemorySpace::Shared &&
                          body_.expr(found->expression).kind == ExprKind::Subscript;
        return fits ? &*found : nullptr;
    }

    [[nodiscard]] std::vector<const MemoryAccess*> accessesIn(ExprId expr) const {
        const std::vector<ExprId> below = code_.expressionsBelow(expr);
        std::vector<const MemoryAccess*> found;
        for (const MemoryAccess& access : kernel_.accesses)
            if (std::ranges::find(below, access.expression) != below.end())
                found.push_back(&access);
        return found;
    }

    [[nodiscard]] bool readsGlobalMemory(ExprId expr) const {
        return std::ranges::any_of(accessesIn(expr), [](const MemoryAccess* access) {
            return access->space == MemorySpace::Global;
        });
    }

    [[nodiscard]] bool computes(const StagedLoop& staged) const {
        return std::ranges::any_of(staged.use, [&](StmtId id) {
            return !isBlockBarrier(id) && body_.stmt(id).kind != StmtKind::Null;
        });
    }

    /// The values for the next round can be told a round ahead. Keeps of the declarations those
    /// that they need.
    Gated<void> requireEarlyValues(const Loop& loop, StagedLoop& staged) const {
        std::vector<ExprId> roots;
        for (const StagedElement& element : staged.elements)
            roots.push_back(element.value);
        std::vector<StmtId> needed;
        for (std::size_t i = 0; i < roots.size(); ++i) {
            for (const ExprId id : code_.expressionsBelow(roots[i])) {
                const Expr& at = body_.expr(id);
                KERNELSKILL_CHECK(requirePlain(at));
                if (at.kind != ExprKind::Variable || at.variable == noId ||
                    at.variable == loop.inductionVariable)
                    continue;
                const Variable& variable = body_.variable(at.variable);
                const StmtId declaration = code_.declarationOf(at.variable);
                const bool isOwn = std::ranges::find(staged.declarations, declaration) !=
                                   staged.declarations.end();
                const bool isWritten =
                    std::ranges::any_of(code_.uses(at.variable), [&](ExprId use) {
                        return code_.holds(loop.statement, use) && code_.isWrite(use);
                    });
                if (isWritten && variable.storage != Storage::Shared &&
                    variable.storage != Storage::DynamicShared)
                    return refuse("value-follows-the-round",
                                  fmt::format("{} on line {} changes from round to round, other "
                                              "than the loop's index",
                                              variable.name, line(at.span)));
                if (!isOwn || std::ranges::find(needed, declaration) != needed.end())
                    continue;
                needed.push_back(declaration);
                for (const VariableId declared : body_.stmt(declaration).declared) {
                    if (body_.variable(declared).init == noId)
                        return refuse("value-follows-the-round",
                                      fmt::format("{} on line {} gets its value later",
                                                  body_.variable(declared).name,
                                                  line(body_.stmt(declaration).span)));
                    roots.push_back(body_.variable(declared).init);
                }
            }
        }
        std::ranges::sort(needed, {}, [&](StmtId id) { return body_.stmt(id).span; });
        staged.declarations = std::move(needed);
        return {};
    }

    Gated<void> requirePlain(const Expr& at) const {
        const bool isEffect =
            (at.kind == ExprKind::Binary && isAssignment(at.op)) ||
            (at.kind == ExprKind::Unary && (at.op.contains("++") || at.op.contains("--")));
        if (isEffect || at.kind == ExprKind::Other || at.type.isVolatile)
            return refuse("not-plainly-staged",
                          fmt::format("line {} does more than read", line(at.span)));
        if (at.kind == ExprKind::Call && !isPure(at))
            return refuse("call-in-loop", fmt::format("what {} on line {} does is not known",
                                                      at.name, line(at.span)));
        return {};
    }

    /// A call whose value follows from its arguments and from memory that does not change here.
    [[nodiscard]] bool isPure(const Expr& call) const {
        const bool isAtomic = std::ranges::any_of(kernel_.atomics, [&](const Atomic& atomic) {
            return &body_.expr(atomic.call) == &call;
        });
        return !isAtomic && isKnownCall(context_.file, context_.kernel, call);
    }

    /// The loop writes elsewhere, whichever thread writes it.
    Gated<void> requireUnchangedSources(const Loop& loop, const StagedLoop& staged) const {
        std::vector<ExprId> values;
        for (const StagedElement& element : staged.elements)
            values.push_back(element.value);
        for (const StmtId declaration : staged.declarations)
            for (const VariableId declared : body_.stmt(declaration).declared)
                values.push_back(body_.variable(declared).init);
        for (const ExprId value : values)
            for (const MemoryAccess* read : accessesIn(value))
                KERNELSKILL_CHECK(requireUnchanged(loop, *read));
        for (const ExprId id : code_.expressionsIn(loop.body)) {
            const Expr& expr = body_.expr(id);
            const bool isWarpOperation =
                std::ranges::any_of(kernel_.warpOperations, [&](const WarpOperation& operation) {
                    return operation.call == id;
                });
            if (expr.kind == ExprKind::Call && barrierOf(id) == nullptr && !isWarpOperation &&
                !isKnownCall(context_.file, context_.kernel, expr))
                return refuse("call-in-loop",
                              fmt::format("what {} on line {} does to memory is not known",
                                          expr.name, line(expr.span)));
        }
        return {};
    }

    Gated<void> requireUnchanged(const Loop& loop, const MemoryAccess& read) const {
        if (read.space == MemorySpace::Constant)
            return {};
        const Span at = body_.expr(read.expression).span;
        if (read.space != MemorySpace::Global || read.base == noId)
            return refuse("may-alias",
                          fmt::format("what line {} reads may change within a round", line(at)));
        for (const MemoryAccess& write : kernel_.accesses) {
            if (write.kind == AccessKind::Read || write.space == MemorySpace::Shared ||
                write.space == MemorySpace::Local || !code_.holds(loop.body, write.expression))
                continue;
            if (write.base == noId || write.base == read.base)
                return refuse("may-alias",
                              fmt::format("line {} writes where line {} may read in the next round",
                                          line(body_.expr(write.expression).span), line(at)));
            KERNELSKILL_CHECK(requireDistinctMemory(context_, write.base, read.base));
        }
        return {};
    }

    Gated<void> requireStatementsApart(const StagedLoop& staged) const {
        const SourceLayout layout(*context_.file.source, kernel_);
        std::vector<StmtId> statements = staged.declarations;
        statements.push_back(staged.barrier);
        for (const StmtId id : statements) {
            const Span span = body_.stmt(id).span;
            if (!layout.startsLine(span.begin) || !layout.endsLine(span.end))
                return refuse("several-statements-a-line",
                              fmt::format("line {} has more than one statement", line(span)));
        }
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<StagedLoop> readStagedLoop(const SkillContext& context, const CodeMap& code,
                                 std::uint32_t loop) {
    return Finder(context, code).study(loop);
}

} // namespace kernelskill::skills
