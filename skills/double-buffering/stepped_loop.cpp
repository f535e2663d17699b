#include "skills/double-buffering/stepped_loop.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_loop.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// An element of an array that the kernel declares, by all its subscripts.
struct Element {
    VariableId array = noId;
    std::vector<ExprId> subscripts; ///< Outermost first.
    ExprId name = noId;             ///< The expression that names the array.
};

class Finder {
public:
    explicit Finder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    Gated<SteppedLoop> find() const {
        KERNELSKILL_CHECK(requireEditable(context_));
        return chooseLoop(context_, code_, [&](std::uint32_t loop) { return study(loop); });
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::uint32_t line(StmtId id) const { return line(body_.stmt(id).span); }

    [[nodiscard]] Gated<SteppedLoop> study(std::uint32_t index) const {
        const Loop& loop = kernel_.loops[index];
        const Stmt& stmt = body_.stmt(loop.statement);
        SteppedLoop stepped;
        stepped.loop = loop.statement;
        const auto none = [&] {
            return refuse("no-copied-state",
                          fmt::format("the loop on line {} does not end in a barrier, a copy of "
                                      "each thread's element between two shared arrays, and a "
                                      "barrier",
                                      line(stmt.span)));
        };
        const Stmt& block = body_.stmt(loop.body);
        if (block.kind != StmtKind::Compound || stmt.fromMacro || block.fromMacro)
            return none();
        const std::vector<StmtId>& parts = block.children;
        std::vector<std::size_t> barriers;
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (isBarrier(parts[i]))
                barriers.push_back(i);
        const auto within = std::ranges::count_if(kernel_.barriers, [&](const Barrier& barrier) {
            return code_.holds(loop.body, barrier.call);
        });
        if (barriers.size() != 2 || within != 2 || barriers[1] + 1 != parts.size())
            return none();
        std::vector<StmtId> exits;
        for (std::size_t i = barriers[0] + 1; i < barriers[1]; ++i) {
            if (isExit(parts[i]))
                exits.push_back(parts[i]);
            else if (stepped.copy == noId && !readCopy(parts[i], stepped))
                return none();
        }
        if (stepped.copy == noId || barriers[1] != barriers[0] + 2 + exits.size())
            return none();
        stepped.barrier = parts[barriers[0]];
        stepped.lastBarrier = parts[barriers[1]];
        if (loop.parent != noId)
            return refuse("in-a-loop", fmt::format("the loop on line {} is inside another one",
                                                   line(stmt.span)));
        for (const StmtId own :
             {stepped.barrier, stepped.copy, stepped.lastBarrier, loop.statement})
            if (!hasOwnLines(body_, layout_, own, own) || body_.stmt(own).fromMacro)
                return refuse("several-statements-a-line",
                              fmt::format("line {} has more than one statement", line(own)));
        KERNELSKILL_CHECK(requireWholeArrays(stepped));
        const std::vector<StmtId> work(parts.begin(),
                                       parts.begin() + static_cast<std::ptrdiff_t>(barriers[0]));
        KERNELSKILL_CHECK(requireOwnResults(loop, stepped));
        KERNELSKILL_CHECK(requireWritten(work, stepped));
        KERNELSKILL_CHECK(requireExits(index, exits));
        if (!stepped.unless.empty())
            KERNELSKILL_CHECK(readFilling(stepped));
        KERNELSKILL_CHECK(collectUses(loop, stepped, !exits.empty()));
        return stepped;
    }

    [[nodiscard]] bool isBarrier(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Expression &&
               std::ranges::any_of(kernel_.barriers, [&](const Barrier& barrier) {
                   return barrier.call == stmt.expr && barrier.kind == BarrierKind::SyncThreads;
               });
    }

    /// The only statement of a block, or the statement itself.
    [[nodiscard]] StmtId single(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Compound && stmt.children.size() == 1 ? stmt.children[0] : id;
    }

    [[nodiscard]] bool isExit(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::If && stmt.children.size() == 1 &&
               body_.stmt(single(stmt.children[0])).kind == StmtKind::Break;
    }

    [[nodiscard]] std::optional<Element> elementOf(ExprId id) const {
        Element element;
        while (body_.expr(id).kind == ExprKind::Subscript ||
               (body_.expr(id).kind == ExprKind::Cast && !body_.expr(id).children.empty())) {
            const Expr& expr = body_.expr(id);
            if (expr.fromMacro)
                return std::nullopt;
            if (expr.kind == ExprKind::Subscript)
                element.subscripts.insert(element.subscripts.begin(), expr.children[1]);
            id = expr.children[0];
        }
        const Expr& name = body_.expr(id);
        if (name.kind != ExprKind::Variable || name.variable == noId || name.fromMacro)
            return std::nullopt;
        const Variable& array = body_.variable(name.variable);
        if (array.storage != Storage::Shared || array.type.isVolatile ||
            array.type.arrayExtents.empty() ||
            array.type.arrayExtents.size() != element.subscripts.size())
            return std::nullopt;
        element.array = name.variable;
        element.name = id;
        return element;
    }

    [[nodiscard]] bool sameElement(const Element& a, const Element& b) const {
        return std::ranges::equal(a.subscripts, b.subscripts, [&](ExprId left, ExprId right) {
            return code_.sameExpression(left, right);
        });
    }

    /// `now[own] = next[own];`, with a condition or without.
    bool readCopy(StmtId id, SteppedLoop& stepped) const {
        const Stmt& stmt = body_.stmt(id);
        StmtId copy = id;
        if (stmt.kind == StmtKind::If) {
            if (stmt.children.size() != 1 || stmt.condition == noId)
                return false;
            copy = single(stmt.children[0]);
        }
        const Stmt& inner = body_.stmt(copy);
        if (inner.kind != StmtKind::Expression || inner.expr == noId)
            return false;
        const Expr& assign = body_.expr(inner.expr);
        if (assign.kind != ExprKind::Binary || assign.op != "=")
            return false;
        const auto to = elementOf(assign.children[0]);
        const auto from = elementOf(code_.withoutCasts(assign.children[1]));
        if (!to || !from || to->array == from->array || !sameElement(*to, *from))
            return false;
        const Type& left = body_.variable(to->array).type;
        const Type& right = body_.variable(from->array).type;
        if (left.canonical != right.canonical || left.arrayExtents != right.arrayExtents)
            return false;
        stepped.copy = id;
        stepped.now = to->array;
        stepped.next = from->array;
        const SourceText& source = *context_.file.source;
        for (const ExprId subscript : to->subscripts)
            stepped.own += fmt::format("[{}]", source.slice(body_.expr(subscript).span));
        if (stmt.kind != StmtKind::If)
            return true;
        const Expr& condition = body_.expr(stmt.condition);
        const std::string text(source.slice(condition.span));
        stepped.unless = condition.kind == ExprKind::Variable ? "!" + text : "!(" + text + ")";
        return !condition.fromMacro && hasNoEffect(code_, stmt.condition);
    }

    /// Each element of the arrays is that of one thread of the block.
    [[nodiscard]] Gated<void> requireWholeArrays(const SteppedLoop& stepped) const {
        const Nest& nest = context_.shared().nest();
        const Variable& array = body_.variable(stepped.now);
        const auto refused = [&] {
            return refuse(
                "part-of-array",
                fmt::format("the threads of a block are not known to copy all of {}, each "
                            "its own element",
                            array.name));
        };
        const Stmt& copy = body_.stmt(stepped.copy);
        for (const NestAccess& access : nest.accesses) {
            if (access.frame != 0 || access.expression == noId ||
                access.kind != AccessKind::Write ||
                !copy.span.contains(body_.expr(access.expression).span) || access.array == noId ||
                nest.arrays[access.array].variable != stepped.now)
                continue;
            if (access.subscripts.size() != array.type.arrayExtents.size() ||
                access.form != NestAccessForm::Affine)
                return refused();
            std::int64_t threads = 1;
            std::vector<std::uint32_t> seen;
            for (std::size_t i = 0; i < access.subscripts.size(); ++i) {
                std::optional<std::uint32_t> axis;
                for (std::uint32_t candidate = 0; candidate < 3; ++candidate)
                    if (access.subscripts[i].index ==
                        IndexExpression::symbol({SymbolKind::ThreadIdx, candidate}))
                        axis = candidate;
                if (!axis || std::ranges::find(seen, *axis) != seen.end() ||
                    !nest.extents.block[*axis] ||
                    *nest.extents.block[*axis] != array.type.arrayExtents[i])
                    return refused();
                seen.push_back(*axis);
                threads *= *nest.extents.block[*axis];
            }
            std::int64_t all = 1;
            for (const auto& extent : nest.extents.block)
                all *= extent.value_or(0);
            if (threads != all)
                return refused();
            return {};
        }
        return refused();
    }

    /// The loop writes to no other shared or global memory, and of `next` nothing but the thread's
    /// own element.
    [[nodiscard]] Gated<void> requireOwnResults(const Loop& loop,
                                                const SteppedLoop& stepped) const {
        const Span copySpan = body_.stmt(stepped.copy).span;
        for (const MemoryAccess& access : kernel_.accesses) {
            if (access.expression == noId || !code_.holds(loop.body, access.expression) ||
                copySpan.contains(body_.expr(access.expression).span))
                continue;
            const Span place = body_.expr(access.expression).span;
            if (access.base == stepped.next) {
                const auto element = elementOf(access.expression);
                if (!element || !isOwn(*element, stepped))
                    return refuse("other-memory",
                                  fmt::format("line {} uses elements of {} beside the thread's own",
                                              line(place), body_.variable(stepped.next).name));
                continue;
            }
            if (access.kind == AccessKind::Read || access.space == MemorySpace::Local)
                continue;
            return refuse(
                "other-memory",
                fmt::format("line {} writes to memory that other threads may read between "
                            "the barriers",
                            line(place)));
        }
        for (const ExprId id : code_.expressionsIn(loop.body)) {
            const Expr& expr = body_.expr(id);
            const bool isOwnBarrier = std::ranges::any_of(
                kernel_.barriers, [&](const Barrier& barrier) { return barrier.call == id; });
            if (expr.kind == ExprKind::Call && !isOwnBarrier &&
                !isKnownCall(context_.file, kernel_, expr))
                return refuse("other-memory",
                              fmt::format("what {} on line {} does to memory is not known",
                                          expr.name, line(expr.span)));
        }
        return {};
    }

    [[nodiscard]] bool isOwn(const Element& element, const SteppedLoop& stepped) const {
        const Stmt& copy = body_.stmt(stepped.copy);
        const StmtId inner = copy.kind == StmtKind::If ? single(copy.children[0]) : stepped.copy;
        const auto own = elementOf(body_.expr(body_.stmt(inner).expr).children[0]);
        return own && sameElement(element, *own);
    }

    /// `next[own] = ...;`
    [[nodiscard]] bool isResult(StmtId id, const SteppedLoop& stepped) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId)
            return false;
        const Expr& assign = body_.expr(stmt.expr);
        if (assign.kind != ExprKind::Binary || assign.op != "=")
            return false;
        const auto element = elementOf(assign.children[0]);
        return element && element->array == stepped.next;
    }

    [[nodiscard]] bool holdsResult(StmtId block, const SteppedLoop& stepped) const {
        return std::ranges::any_of(code_.statementsOf(block),
                                   [&](StmtId id) { return isResult(id, stepped); });
    }

    /// A thread that copies its element has worked it out in the same round.
    [[nodiscard]] Gated<void> requireWritten(const std::vector<StmtId>& work,
                                             const SteppedLoop& stepped) const {
        const auto refused = refuse(
            "partly-written",
            fmt::format("line {} may copy an element of {} that no statement of the round wrote",
                        line(stepped.copy), body_.variable(stepped.next).name));
        if (std::ranges::any_of(work, [&](StmtId id) { return isResult(id, stepped); }))
            return {};
        const Stmt& copy = body_.stmt(stepped.copy);
        if (copy.kind != StmtKind::If)
            return refused;
        const VariableId flag = code_.namedVariable(copy.condition);
        if (flag != noId && isSetWithResult(flag, work, stepped))
            return {};
        for (const StmtId id : work) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::If && code_.sameExpression(stmt.condition, copy.condition) &&
                holdsResult(stmt.children[0], stepped) && keepsValue(copy.condition, stepped))
                return {};
        }
        return refused;
    }

    /// The variables of the condition have one value in the whole round, and no memory decides.
    [[nodiscard]] bool keepsValue(ExprId condition, const SteppedLoop& stepped) const {
        const StmtId body = body_.stmt(stepped.loop).children.front();
        return std::ranges::all_of(code_.expressionsBelow(condition), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Call ||
                (expr.kind == ExprKind::Unary && expr.op == "*"))
                return false;
            return expr.kind != ExprKind::Variable ||
                   (expr.variable != noId &&
                    std::ranges::none_of(code_.uses(expr.variable), [&](ExprId use) {
                        return code_.holds(body, use) && code_.isWrite(use);
                    }));
        });
    }

    /// Each round clears the flag first, and sets it where it writes the result.
    [[nodiscard]] bool isSetWithResult(VariableId flag, const std::vector<StmtId>& work,
                                       const SteppedLoop& stepped) const {
        const Variable& variable = body_.variable(flag);
        if (variable.storage != Storage::Local || variable.type.pointerDepth > 0 ||
            variable.type.isReference)
            return false;
        const StmtId body = body_.stmt(stepped.loop).children.front();
        bool isCleared = false;
        for (const StmtId id : work) {
            const Stmt& stmt = body_.stmt(id);
            const bool declares = stmt.kind == StmtKind::Declaration &&
                                  std::ranges::find(stmt.declared, flag) != stmt.declared.end() &&
                                  variable.init != noId && isZero(variable.init);
            isCleared |= declares || isClearing(stmt, flag);
        }
        if (!isCleared)
            return false;
        return std::ranges::all_of(code_.uses(flag), [&](ExprId use) {
            if (!code_.isWrite(use) || !code_.holds(body, use))
                return true;
            const StmtId set = code_.statement(use);
            return isClearing(body_.stmt(set), flag) ||
                   (body_.stmt(set).kind == StmtKind::Expression &&
                    holdsResult(body_.stmt(set).parent, stepped));
        });
    }

    [[nodiscard]] bool isZero(ExprId id) const {
        const Expr& value = body_.expr(code_.withoutCasts(id));
        return value.kind == ExprKind::Integer && value.integer == 0;
    }

    [[nodiscard]] bool isClearing(const Stmt& stmt, VariableId flag) const {
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId)
            return false;
        const Expr& set = body_.expr(stmt.expr);
        return set.kind == ExprKind::Binary && set.op == "=" &&
               code_.namedVariable(set.children[0]) == flag && isZero(set.children[1]);
    }

    /// Threads that pass on an element have one: each filled its own before the loop, or did so on
    /// a condition that is asked again. Threads of the work have one in any case if they read it.
    Gated<void> readFilling(SteppedLoop& stepped) const {
        const auto refused = [&] {
            return refuse("partly-filled",
                          fmt::format("the threads that filled their elements of {} before line {} "
                                      "are not known",
                                      body_.variable(stepped.now).name, line(stepped.loop)));
        };
        const std::uint32_t begin = body_.stmt(stepped.loop).span.begin;
        std::optional<StmtId> condition;
        bool isComplete = false;
        for (const MemoryAccess& access : kernel_.accesses) {
            if (access.base != stepped.now || access.kind == AccessKind::Read ||
                access.expression == noId || body_.expr(access.expression).span.begin > begin)
                continue;
            const auto element = elementOf(access.expression);
            if (!element || !isOwn(*element, stepped))
                return refused();
            StmtId filling = code_.statement(access.expression);
            if (body_.stmt(filling).parent == body_.root) {
                isComplete = true;
                continue;
            }
            while (filling != noId && body_.stmt(filling).kind != StmtKind::If)
                filling = body_.stmt(filling).parent;
            if (filling == noId || condition || body_.stmt(filling).parent != body_.root ||
                body_.stmt(filling).children.size() != 1)
                return refused();
            condition = filling;
        }
        if (isComplete)
            return {};
        if (!condition || !readsOwn(stepped))
            return refused();
        const Stmt& filling = body_.stmt(*condition);
        for (const ExprId id : code_.expressionsBelow(filling.condition)) {
            const Expr& expr = body_.expr(id);
            const bool isFixed = expr.kind != ExprKind::Subscript && expr.kind != ExprKind::Call &&
                                 (expr.kind != ExprKind::Unary || expr.op != "*") &&
                                 (expr.kind != ExprKind::Variable ||
                                  (expr.variable != noId && !code_.isEverWritten(expr.variable)));
            if (!isFixed)
                return refused();
        }
        // As it stands between the brackets: it may come from a macro.
        const SourceText& source = *context_.file.source;
        const std::string head(
            source.slice({filling.span.begin, body_.stmt(filling.children[0]).span.begin}));
        const std::size_t open = head.find('(');
        const std::size_t close = head.rfind(')');
        if (filling.fromMacro || open == std::string::npos || close == std::string::npos ||
            head.contains("//") || head.contains("/*") || head.contains('\n'))
            return refused();
        const std::string text = head.substr(open + 1, close - open - 1);
        stepped.unless +=
            text.contains("||") || text.contains('?') ? " && (" + text + ")" : " && " + text;
        return {};
    }

    /// Whether each statement that writes a result reads the thread's element of `now`, or another
    /// one of its block does.
    [[nodiscard]] bool readsOwn(const SteppedLoop& stepped) const {
        return std::ranges::all_of(code_.uses(stepped.next), [&](ExprId use) {
            const StmtId result = code_.statement(use);
            if (!isResult(result, stepped) ||
                !body_.stmt(stepped.loop).span.contains(body_.stmt(result).span))
                return true;
            const StmtId block = body_.stmt(result).parent;
            return std::ranges::any_of(code_.uses(stepped.now), [&](ExprId read) {
                const StmtId at = code_.statement(read);
                const auto element = elementAt(read);
                return at != noId && body_.stmt(at).parent == block && element &&
                       isOwn(*element, stepped);
            });
        });
    }

    /// An exit before the copy is that of the last round.
    [[nodiscard]] Gated<void> requireExits(std::uint32_t index,
                                           const std::vector<StmtId>& exits) const {
        const StmtId body = body_.stmt(kernel_.loops[index].statement).children.front();
        for (const StmtId id : code_.statementsIn(body)) {
            const StmtKind kind = body_.stmt(id).kind;
            const bool leaves = kind == StmtKind::Break || kind == StmtKind::Return ||
                                kind == StmtKind::Continue || kind == StmtKind::Goto;
            if (leaves &&
                std::ranges::none_of(exits, [&](StmtId exit) { return code_.encloses(exit, id); }))
                return refuse("may-end-early", fmt::format("line {} may leave a round", line(id)));
        }
        if (exits.empty())
            return {};
        const Loop& loop = kernel_.loops[index];
        const bool countsByOne =
            loop.kind == LoopKind::For && loop.inductionVariable != noId &&
            loop.comparison == "<" && loop.step == 1 && loop.upperBound != noId &&
            isFixed(code_, loop, loop.upperBound) &&
            std::ranges::none_of(code_.uses(loop.inductionVariable), [&](ExprId use) {
                return code_.holds(loop.body, use) && code_.isWrite(use);
            });
        for (const StmtId exit : exits)
            if (!countsByOne || !isLastRound(body_.stmt(exit).condition, index, loop.upperBound))
                return refuse(
                    "may-end-early",
                    fmt::format("line {} is not known to leave the loop in its last round",
                                line(exit)));
        return {};
    }

    /// `i == limit - 1` or `i + 1 == limit`, or with >=.
    [[nodiscard]] bool isLastRound(ExprId condition, std::uint32_t index, ExprId limit) const {
        const Expr& compared = body_.expr(condition);
        if (compared.kind != ExprKind::Binary || (compared.op != "==" && compared.op != ">="))
            return false;
        const VariableId iterator = kernel_.loops[index].inductionVariable;
        const auto isOneBeside = [&](ExprId id, std::string_view op, const auto& isBase) {
            const Expr& expr = body_.expr(code_.withoutCasts(id));
            return expr.kind == ExprKind::Binary && expr.op == op && isBase(expr.children[0]) &&
                   code_.constantValue(expr.children[1]) == 1;
        };
        const auto isIterator = [&](ExprId id) { return code_.namedVariable(id) == iterator; };
        const auto isLimit = [&](ExprId id) {
            return code_.sameExpression(code_.withoutCasts(id), code_.withoutCasts(limit));
        };
        return (isIterator(compared.children[0]) &&
                isOneBeside(compared.children[1], "-", isLimit)) ||
               (isOneBeside(compared.children[0], "+", isIterator) &&
                isLimit(compared.children[1]));
    }

    [[nodiscard]] Gated<void> collectUses(const Loop& loop, SteppedLoop& stepped,
                                          bool endsBeforeCopy) const {
        const Span span = body_.stmt(loop.statement).span;
        const Span copy = body_.stmt(stepped.copy).span;
        for (const VariableId array : {stepped.now, stepped.next}) {
            const bool isNow = array == stepped.now;
            for (const ExprId use : code_.uses(array)) {
                const Span place = body_.expr(use).span;
                if (place.begin < span.begin || copy.contains(place))
                    continue;
                if (body_.expr(use).fromMacro || !elementAt(use))
                    return refuse("other-memory",
                                  fmt::format("line {} uses {} other than by its elements",
                                              line(place), body_.variable(array).name));
                if (!isNow && !span.contains(place) && !endsBeforeCopy)
                    return refuse("used-behind",
                                  fmt::format("line {} uses {} behind the loop", line(place),
                                              body_.variable(array).name));
                (isNow ? stepped.nowUses : stepped.nextUses).push_back(use);
            }
        }
        return {};
    }

    /// The element that the name of an array is part of.
    [[nodiscard]] std::optional<Element> elementAt(ExprId use) const {
        ExprId at = use;
        while (code_.parent(at) != noId) {
            const Expr& above = body_.expr(code_.parent(at));
            const bool goesOn = (above.kind == ExprKind::Subscript && above.children[0] == at) ||
                                above.kind == ExprKind::Cast;
            if (!goesOn)
                break;
            at = code_.parent(at);
            if (auto element = elementOf(at))
                return element;
        }
        return std::nullopt;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_{*context_.file.source, kernel_};
};

} // namespace

Gated<SteppedLoop> findSteppedLoop(const SkillContext& context) {
    return Finder(context).find();
}

} // namespace kernelskill::skills
