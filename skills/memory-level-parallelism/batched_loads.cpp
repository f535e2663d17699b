#include "skills/memory-level-parallelism/batched_loads.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "analysis/syntax/scalar_bytes.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/callees.h"
#include "skills/gates/counted_loop.h"
#include "skills/gates/launch_sites.h"
#include "skills/memory-level-parallelism/linear_search.h"
#include "skills/memory-level-parallelism/load_place.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::size_t maxLoads = 4;   ///< Four rounds of them are 16 registers or more.
constexpr std::int64_t minRounds = 8; ///< Fewer are not worth batching.
/// Groups that the loop itself does not guard. Where few warps are resident, four rounds do not
/// keep the memory busy.
constexpr std::array groupRounds{8, 16, 4};
constexpr std::uint64_t maxRegisterBytes = 256; ///< The loaded values take 64 registers at most.
/// A loop of so few rounds is loaded whole, if branches keep the compiler from doing so.
constexpr std::int64_t maxWholeRounds = 4;
constexpr std::int64_t minWholeRounds = 2;

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()) {}

    Gated<BatchedLoop> find() const {
        auto needed = chooseLoop(context_, code_, [&](std::uint32_t loop) -> Gated<BatchedLoop> {
            KERNELSKILL_TRY(BatchedLoop batched, study(loop));
            if (batched.needless)
                return std::unexpected(*batched.needless);
            return batched;
        });
        if (needed)
            return needed;
        auto needless =
            chooseLoop(context_, code_, [&](std::uint32_t loop) { return study(loop); });
        if (!needless)
            return needed;
        needless->needless = needed.error();
        return needless;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] Gated<BatchedLoop> study(std::uint32_t index) const {
        const Loop& loop = kernel_.loops[index];
        BatchedLoop batched;
        if (auto search = readSearch(context_, code_, index))
            return *search;
        KERNELSKILL_TRY(batched.head, readAdvancingLoop(context_, code_, index,
                                                        {.memory = FixedMemory::ReadOnly}));
        KERNELSKILL_CHECK(readShape(loop, batched));
        KERNELSKILL_CHECK(requirePlainBody(loop, batched));
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
        KERNELSKILL_CHECK(requireKnownCalls(loop, batched));
        KERNELSKILL_CHECK(requireWideIndex(loop, batched));
        KERNELSKILL_CHECK(requireNoRedundantThreads(context_));
        KERNELSKILL_CHECK(requireFreeOrder(loop, batched));
        batched.needless = reasonAgainst(loop, batched);
        batched.groups = groupsOf(loop, batched);
        return batched;
    }

    [[nodiscard]] std::vector<int> groupsOf(const Loop& loop, const BatchedLoop& batched) const {
        std::uint64_t bytes = 0;
        for (const BatchedLoad& load : batched.loads)
            bytes += scalarBytes(body_.expr(load.element).type.scalar) *
                     static_cast<std::uint64_t>(body_.expr(load.element).type.lanes);
        std::vector<int> possible;
        if (!batched.breaks.empty())
            return possible;
        const auto known = roundsOf(loop, batched);
        for (const int rounds : groupRounds)
            if ((!known || *known / 2 >= rounds) &&
                !(batched.needless && rounds <= batched.rounds) &&
                bytes * static_cast<std::uint64_t>(rounds) <= maxRegisterBytes)
                possible.push_back(rounds);
        return possible;
    }

    [[nodiscard]] Gated<void> readShape(const Loop& loop, BatchedLoop& batched) const {
        const Stmt& stmt = body_.stmt(loop.statement);
        const bool branches = hasLastingBranch(loop);
        if (!stmt.pragma.empty() && !branches)
            return refuse("already-unrolled", fmt::format("the loop on line {} has a pragma about "
                                                          "unrolling",
                                                          line(stmt.span)));
        const auto known = roundsOf(loop, batched);
        if (!known || *known >= minRounds)
            return {};
        if (!branches || *known > maxWholeRounds || *known < minWholeRounds)
            return refuse("short-loop", fmt::format("the loop on line {} has {} rounds",
                                                    line(stmt.span), *known));
        batched.rounds = static_cast<int>(*known);
        return {};
    }

    [[nodiscard]] std::optional<std::int64_t> roundsOf(const Loop& loop,
                                                       const BatchedLoop& batched) const {
        if (loop.tripCount)
            return loop.tripCount;
        const auto& counted = batched.head.counted;
        const auto start =
            counted.start == noId ? std::nullopt : code_.constantValue(counted.start);
        const auto limit = code_.constantValue(counted.limit);
        return counted.step == noId && start && limit ? std::optional(*limit - *start)
                                                      : std::nullopt;
    }

    /// Whether a branch stays in each round: one that loads, calls or leaves cannot be replaced by
    /// a choice of values, and the compiler loads for no later round before it.
    [[nodiscard]] bool hasLastingBranch(const Loop& loop) const {
        for (const StmtId id : code_.statementsIn(loop.body)) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::Break || stmt.kind == StmtKind::Return)
                return true;
            if (stmt.kind != StmtKind::If)
                continue;
            for (const StmtId side : stmt.children)
                for (const MemoryAccess& access : kernel_.accesses)
                    if (access.space == MemorySpace::Global && access.expression != noId &&
                        code_.holds(side, access.expression))
                        return true;
        }
        return false;
    }

    [[nodiscard]] Gated<void> requirePlainBody(const Loop& loop, BatchedLoop& batched) const {
        for (const StmtId id : code_.statementsIn(loop.body)) {
            const Stmt& stmt = body_.stmt(id);
            switch (stmt.kind) {
            case StmtKind::Compound:
            case StmtKind::Declaration:
            case StmtKind::Expression:
            case StmtKind::If:
            case StmtKind::Null:
            case StmtKind::Return:
                break;
            case StmtKind::Continue:
                if (batched.head.advance != noId)
                    return refuse("not-counted-up",
                                  fmt::format("line {} goes on without the step at the end",
                                              line(stmt.span)));
                break;
            case StmtKind::Break:
                if (stmt.fromMacro)
                    return refuse("early-exit", fmt::format("line {} may end the loop in a macro",
                                                            line(stmt.span)));
                batched.breaks.push_back(id);
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
        return {};
    }

    /// An index of 32 bits below a limit of 64 may wrap around as it strides on, and then starts
    /// anew; it does not with 64 bits.
    [[nodiscard]] Gated<void> requireWideIndex(const Loop& loop, const BatchedLoop& batched) const {
        const auto isWide = [&](ScalarKind kind) {
            return kind == ScalarKind::Int64 || kind == ScalarKind::UInt64;
        };
        const CountedLoop& counted = batched.head.counted;
        if (counted.step == noId || isWide(body_.variable(batched.head.index).type.scalar) ||
            !isWide(body_.expr(code_.withoutCasts(counted.limit)).type.scalar))
            return {};
        return refuse("narrow-index",
                      fmt::format("the index of the loop on line {} has 32 bits and its limit 64: "
                                  "it may wrap around",
                                  line(body_.stmt(loop.statement).span)));
    }

    /// Refuses the loop if a call in it may write memory that would be loaded ahead.
    [[nodiscard]] Gated<void> requireKnownCalls(const Loop& loop,
                                                const BatchedLoop& batched) const {
        for (const ExprId id : code_.expressionsIn(loop.body)) {
            const Expr& expr = body_.expr(id);
            if (expr.kind != ExprKind::Call || isKnownCall(context_.file, context_.kernel, expr) ||
                setsOnlyLocals(expr) || (!orders(id) && areReadOnly(batched)))
                continue;
            return refuse("call-in-loop",
                          fmt::format("what {} on line {} does to memory is not known", expr.name,
                                      line(expr.span)));
        }
        return {};
    }

    /// Whether it waits for other threads, or may: a barrier, a warp function, a method of a group.
    [[nodiscard]] bool orders(ExprId id) const {
        const auto is = [&](const auto& list) {
            return std::ranges::any_of(list, [&](const auto& entry) { return entry.call == id; });
        };
        return is(kernel_.barriers) || is(kernel_.warpOperations) || is(kernel_.atomics) ||
               body_.expr(id).name.contains("sync");
    }

    /// The pointers say that nobody writes what they lead to while the kernel runs.
    [[nodiscard]] bool areReadOnly(const BatchedLoop& batched) const {
        return std::ranges::all_of(batched.loads, [&](const BatchedLoad& load) {
            const Type& type = body_.variable(load.base).type;
            return type.isRestrict && type.pointeeConst;
        });
    }

    /// A device function that writes to nothing but the caller's own variables, by references.
    [[nodiscard]] bool setsOnlyLocals(const Expr& call) const {
        const auto& functions = context_.file.deviceFunctions;
        const auto callee = std::ranges::find(functions, call.name, &KernelModel::name);
        if (call.isMethod || callee == functions.end() || !callee->barriers.empty() ||
            !callee->warpOperations.empty() || !callee->atomics.empty() || !callee->calls.empty() ||
            std::ranges::count(functions, call.name, &KernelModel::name) != 1 ||
            callee->parameters.size() != call.children.size())
            return false;
        for (std::size_t i = 0; i < callee->parameters.size(); ++i) {
            const Parameter& parameter = callee->parameters[i];
            if (!parameter.isWritten && !parameter.escapes)
                continue;
            const Type& type = parameter.type;
            if (!type.isReference || type.pointerDepth > 0 || parameter.escapes ||
                !isOwnVariable(call.children[i]))
                return false;
        }
        return std::ranges::all_of(callee->accesses, [&](const MemoryAccess& access) {
            return access.kind == AccessKind::Read ||
                   std::ranges::any_of(callee->parameters, [&](const Parameter& parameter) {
                       return parameter.variable == access.base && access.base != noId &&
                              parameter.type.isReference && parameter.type.pointerDepth == 0;
                   });
        });
    }

    [[nodiscard]] bool isOwnVariable(ExprId argument) const {
        ExprId at = argument;
        while (body_.expr(at).kind == ExprKind::Member && !body_.expr(at).children.empty())
            at = body_.expr(at).children.front();
        const Expr& expr = body_.expr(at);
        return expr.kind == ExprKind::Variable && expr.variable != noId &&
               body_.variable(expr.variable).storage == Storage::Local &&
               body_.variable(expr.variable).type.pointerDepth == 0 &&
               !body_.variable(expr.variable).type.isReference;
    }

    void collectLoads(const Loop& loop, BatchedLoop& batched) const {
        for (const MemoryAccess& access : kernel_.accesses) {
            if (access.kind != AccessKind::Read || access.space != MemorySpace::Global ||
                access.expression == noId || !code_.holds(loop.body, access.expression))
                continue;
            const Expr& element = body_.expr(access.expression);
            if (element.kind != ExprKind::Subscript || element.fromMacro ||
                element.type.isVolatile || element.type.pointerDepth > 0 ||
                valueSpelling(element.type).empty() ||
                !isInEveryRound(code_, loop, access.expression) ||
                !isFixedPointer(loop, element.children[0]) || isWritten(access.expression))
                continue;
            const auto locals = localsOfPlace(context_, batched.head, element.children[1]);
            if (!locals)
                continue;
            addLocals(*locals, batched);
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

    [[nodiscard]] bool isFixedPointer(const Loop& loop, ExprId base) const {
        return body_.expr(base).kind == ExprKind::Variable && code_.namedVariable(base) != noId &&
               isFixedOutside(code_, loop, base);
    }

    /// Adds declarations in the order of the source, each once.
    void addLocals(const std::vector<StmtId>& locals, BatchedLoop& batched) const {
        for (const StmtId local : locals)
            if (std::ranges::find(batched.locals, local) == batched.locals.end())
                batched.locals.push_back(local);
        std::ranges::sort(batched.locals, {}, [&](StmtId id) { return body_.stmt(id).span.begin; });
    }

    /// The loads of later rounds may go before the stores of earlier ones.
    [[nodiscard]] Gated<void> requireFreeOrder(const Loop& loop, const BatchedLoop& batched) const {
        if (areReadOnly(batched))
            return {};
        for (const MemoryAccess& access : kernel_.accesses)
            if (writesOutside(loop, access))
                for (const BatchedLoad& load : batched.loads)
                    KERNELSKILL_CHECK(requireApart(batched, access, load));
        return {};
    }

    /// Whether the loop writes memory by the access that is neither shared nor the thread's own.
    [[nodiscard]] bool writesOutside(const Loop& loop, const MemoryAccess& access) const {
        return access.kind != AccessKind::Read && access.expression != noId &&
               code_.holds(loop.body, access.expression) && access.space != MemorySpace::Shared &&
               access.space != MemorySpace::Local;
    }

    /// Whether the compiler knows the index's step.
    [[nodiscard]] bool knowsStep(const Loop& loop, const BatchedLoop& batched) const {
        const ExprId step = batched.head.counted.step;
        if (step == noId || loop.step || code_.constantValue(step))
            return true;
        const Expr& expr = body_.expr(code_.withoutCasts(step));
        return expr.kind == ExprKind::Variable &&
               std::ranges::find(kernel_.templateParameters, expr.name, &TemplateParameter::name) !=
                   kernel_.templateParameters.end();
    }

    /// Returns why the compiler may load first by itself; nullopt if something keeps it from that.
    [[nodiscard]] std::optional<Refusal> reasonAgainst(const Loop& loop,
                                                       const BatchedLoop& batched) const {
        const bool writes = std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
            return writesOutside(loop, access);
        });
        if (!knowsStep(loop, batched) || (writes && !areReadOnly(batched)) ||
            hasLastingBranch(loop))
            return std::nullopt;
        return refuse("compiler-may-reorder",
                      fmt::format("nothing keeps the compiler from unrolling the loop on line "
                                  "{} and loading first",
                                  line(body_.stmt(loop.statement).span)))
            .error();
    }

    [[nodiscard]] Gated<void> requireApart(const BatchedLoop& batched, const MemoryAccess& write,
                                           const BatchedLoad& load) const {
        if (write.base != load.base) {
            if (write.base == noId)
                return refuse("may-alias", fmt::format("where line {} writes is not known",
                                                       line(body_.expr(write.expression).span)));
            return requireDistinctMemory(context_, write.base, load.base);
        }
        // In place: each round its own element, which no other round touches.
        const auto index = polynomialOf(code_, body_.expr(load.element).children[1]);
        const auto factor =
            index ? index->coefficientOf({SymbolKind::Opaque, batched.head.index}) : std::nullopt;
        const auto number = factor ? factor->asConstant() : std::nullopt;
        if (code_.sameExpression(write.expression, load.element) && number && *number != 0 &&
            !isReadAfter(write, load))
            return {};
        return refuse("may-alias", fmt::format("line {} writes {}, which later rounds may load",
                                               line(body_.expr(write.expression).span),
                                               body_.variable(load.base).name));
    }

    /// Whether the round reads the element again behind the statement that writes it.
    [[nodiscard]] bool isReadAfter(const MemoryAccess& write, const BatchedLoad& load) const {
        const std::uint32_t end = body_.stmt(code_.statement(write.expression)).span.end;
        const auto isBehind = [&](ExprId read) { return body_.expr(read).span.begin >= end; };
        return isBehind(load.element) || std::ranges::any_of(load.again, isBehind);
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<BatchedLoop> findBatchedLoop(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    auto found = Finder(context, context.code()).find();
    if ((found && !found->needless) || !requireNoRedundantThreads(context))
        return found;
    for (const KernelModel* function : editableCallees(context)) {
        const SkillContext inner = context.in(*function);
        auto called = Finder(inner, inner.code()).find();
        if (!called || (found && called->needless))
            continue;
        called->function = function;
        if (!called->needless)
            return called;
        called->needless = found.error();
        found = std::move(called);
    }
    return found;
}

} // namespace kernelskill::skills
