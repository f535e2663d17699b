#include "skills/schedule/term_loop.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_words.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Fewer terms do not pay for the barriers around each tile.
constexpr std::int64_t minTerms = 16;

bool isAnyLoop(StmtKind kind) {
    return kind == StmtKind::For || kind == StmtKind::While || kind == StmtKind::Do ||
           kind == StmtKind::RangeFor;
}

bool isInteger(const Type& type) {
    return type.scalar >= ScalarKind::Bool && type.scalar <= ScalarKind::UInt64 &&
           type.pointerDepth == 0;
}

class TermLoopReader {
public:
    TermLoopReader(const SkillContext& context, const AxisDependence& dependence,
                   const std::vector<KeptElement>& kept, std::uint32_t loop)
        : context_(context), dependence_(dependence), kept_(kept),
          loop_(context.kernel.loops[loop]), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), node_(loopNode(nest_, loop_.statement)) {
        term_.statement = loop_.statement;
        term_.loop = loop;
    }

    Gated<TermLoop> read() {
        KERNELSKILL_CHECK(requireHead());
        KERNELSKILL_CHECK(requireBody());
        for (const NestAccess& access : nest_.accesses)
            if (isInside(nest_, node_, access.node))
                KERNELSKILL_CHECK(takeAccess(access));
        dropInner();
        if (term_.operands.empty())
            return refuse("no-shared-operand",
                          fmt::format("outputs share nothing that the loop on line {} reads",
                                      line(body_.stmt(loop_.statement).span)));
        for (const TileOperand& operand : term_.operands)
            for (const ExprId use : operand.uses)
                KERNELSKILL_CHECK(requireUnconditional(use));
        for (const StmtId id : code_.statementsIn(loop_.body))
            if (body_.stmt(id).kind == StmtKind::Continue)
                KERNELSKILL_CHECK(requireValues(id));
        return std::move(term_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const { return line(body_.expr(expr).span); }

    [[nodiscard]] Gated<void> requireHead() const {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const std::uint32_t at = line(stmt.span);
        const bool isCounted =
            loop_.kind == LoopKind::For && node_ != noId && loop_.inductionVariable != noId &&
            loop_.lowerBound != noId && loop_.upperBound != noId && loop_.step == 1 &&
            (loop_.comparison == "<" || loop_.comparison == "<=" || loop_.comparison == "!=") &&
            !loop_.hasEarlyExit && !nest_.node(node_).loop()->mayStop;
        if (!isCounted)
            return refuse("not-counted-up",
                          fmt::format("the loop on line {} does not count up by one to its limit, "
                                      "or may end early",
                                      at));
        if (stmt.fromMacro || !isWrittenAs(*context_.file.source, stmt.span, {"for"}) ||
            !isSpelledOut(code_, loop_.lowerBound) || !isSpelledOut(code_, loop_.upperBound))
            return refuse("from-macro",
                          fmt::format("the head of the loop on line {} comes out of a macro", at));
        for (const ExprId bound : {loop_.lowerBound, loop_.upperBound}) {
            if (dependence_.of(bound) != 0)
                return refuse("rounds-differ",
                              fmt::format("the loop on line {} goes from {} to {}, which is not "
                                          "the same for all outputs",
                                          at, text(loop_.lowerBound), text(loop_.upperBound)));
            if (!isFixedBound(bound))
                return refuse(
                    "not-counted-up",
                    fmt::format("{} may change while the loop on line {} runs", text(bound), at));
        }
        for (const ExprId use : code_.uses(loop_.inductionVariable))
            if (code_.isWrite(use) && code_.holds(loop_.body, use))
                return refuse("not-counted-up",
                              fmt::format("line {} changes the loop's variable", lineOf(use)));
        if (loop_.tripCount && *loop_.tripCount < minTerms)
            return refuse("short-loop", fmt::format("the loop on line {} has {} rounds alone", at,
                                                    *loop_.tripCount));
        return {};
    }
    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(context_.file.source->slice(body_.expr(expr).span));
    }
    [[nodiscard]] bool isFixedBound(ExprId bound) const {
        return std::ranges::all_of(code_.expressionsBelow(bound), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            switch (expr.kind) {
            case ExprKind::Integer:
            case ExprKind::BuiltinIndex:
            case ExprKind::Cast:
                return true;
            case ExprKind::Member:
                return !expr.isArrow;
            case ExprKind::Unary:
                return expr.op == "-" || expr.op == "~";
            case ExprKind::Binary:
                return !isAssignment(expr.op);
            case ExprKind::Variable:
                return expr.variable == noId ||
                       (!body_.variable(expr.variable).type.isVolatile &&
                        std::ranges::none_of(code_.uses(expr.variable), [&](ExprId use) {
                            return code_.holds(loop_.body, use) && code_.isWrite(use);
                        }));
            default:
                return false;
            }
        });
    }

    [[nodiscard]] Gated<void> requireBody() const {
        for (const StmtId id : code_.statementsIn(loop_.body)) {
            const Stmt& stmt = body_.stmt(id);
            const std::uint32_t at = line(stmt.span);
            if (isAnyLoop(stmt.kind))
                return refuse("loop-in-loop",
                              fmt::format("the loop on line {} stands in another", at));
            if (stmt.fromMacro)
                return refuse("from-macro", fmt::format("line {} comes out of a macro", at));
            if (stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other ||
                stmt.kind == StmtKind::Switch)
                return refuse("unknown-effects", fmt::format("what line {} does is not known", at));
        }
        for (const ExprId id : code_.expressionsIn(loop_.body)) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Binary && expr.op.size() <= 2 &&
                (expr.op.starts_with('/') || expr.op.starts_with('%')) && isInteger(expr.type) &&
                !code_.constantValue(expr.children[1]))
                return refuse("divides", fmt::format("line {} divides integers, and elements "
                                                     "outside of the data are taken for 0",
                                                     lineOf(id)));
        }
        return {};
    }

    [[nodiscard]] bool isKept(ExprId expr) const {
        return std::ranges::any_of(kept_, [&](const KeptElement& element) {
            return element.loop == loop_.statement &&
                   std::ranges::find(element.uses, expr) != element.uses.end();
        });
    }

    /// The expression of the kernel's own text by which the access is made.
    [[nodiscard]] ExprId ownExpression(const NestAccess& access) const {
        std::uint32_t frame = access.frame;
        if (frame == 0)
            return access.expression;
        while (nest_.frames[frame].caller != 0 && nest_.frames[frame].caller != noId)
            frame = nest_.frames[frame].caller;
        return nest_.frames[frame].call;
    }

    Gated<void> takeAccess(const NestAccess& access) {
        const NestNode& node = nest_.node(access.node);
        if (access.array == noId)
            return refuse("unknown-effects",
                          fmt::format("where line {} goes is not known", line(node.span)));
        if (isThreadsOwn(nest_, access))
            return {};
        const ExprId own = ownExpression(access);
        if (own == noId || !code_.holds(loop_.body, own))
            return refuse("unknown-effects",
                          fmt::format("the loop on line {} reads memory in its head",
                                      line(body_.stmt(loop_.statement).span)));
        if (access.frame == 0 && isKept(own))
            return {};
        const NestArray& array = nest_.arrays[access.array];
        if (access.kind != AccessKind::Read)
            return refuse("stores-in-loop", fmt::format("line {} stores to {} in each round",
                                                        lineOf(own), array.name));
        const ExprId value = valueOf(own);
        const AxisSet axes = dependence_.of(value);
        if ((axes & outputAxesSet) == 0)
            return {};
        if (axes != (slowAxis | termAxis) && axes != (fastAxis | termAxis))
            return refuse("operand-of-output",
                          fmt::format("{} on line {} is another element for each output",
                                      text(value), lineOf(value)));
        if (!isSpelledOut(code_, value))
            return refuse("from-macro",
                          fmt::format("the load on line {} comes out of a macro", lineOf(value)));
        const auto same = std::ranges::find_if(term_.operands, [&](const TileOperand& operand) {
            return code_.sameExpression(operand.uses.front(), value);
        });
        if (same != term_.operands.end()) {
            if (std::ranges::find(same->uses, value) == same->uses.end())
                same->uses.push_back(value);
            return {};
        }
        const Type& type = body_.expr(value).type;
        if (type.pointerDepth > 0 || !type.arrayExtents.empty() || type.isVolatile)
            return refuse("operand-type", fmt::format("{} on line {} is no plain number",
                                                      text(value), lineOf(value)));
        TileOperand operand;
        operand.uses = {value};
        operand.axis = axes & outputAxesSet;
        operand.array = access.array;
        operand.type = elementType(type);
        operand.size = type.size;
        operand.walksTerms = walksTerms(access);
        term_.operands.push_back(std::move(operand));
        return {};
    }

    [[nodiscard]] static std::string elementType(const Type& type) {
        std::string name = valueSpelling(type);
        while (name.ends_with('&') || name.ends_with(' '))
            name.pop_back();
        return name;
    }

    [[nodiscard]] bool walksTerms(const NestAccess& access) const {
        if (!access.index)
            return false;
        const auto step = access.index->coefficientOf(nest_.node(node_).loop()->iterator);
        return step && (step->asConstant() == 1 || step->asConstant() == -1);
    }

    /// The load as a whole: `__ldg(&a[i])` of `a[i]`; the whole element of `a[i].x`.
    [[nodiscard]] ExprId valueOf(ExprId lvalue) const {
        const Expr& expr = body_.expr(lvalue);
        const ExprId holder = code_.parent(lvalue);
        if (expr.type.pointerDepth > 0 && holder != noId &&
            body_.expr(holder).kind == ExprKind::Call)
            return holder; // The argument of a load.
        const ExprId element = expr.kind == ExprKind::Member && !expr.isArrow &&
                                       body_.expr(expr.children[0]).kind == ExprKind::Subscript
                                   ? expr.children[0]
                                   : lvalue;
        const ExprId address = code_.parent(element);
        const ExprId call = address == noId ? noId : code_.parent(address);
        const bool isLoad = call != noId && body_.expr(address).kind == ExprKind::Unary &&
                            body_.expr(address).op == "&" &&
                            body_.expr(call).kind == ExprKind::Call;
        return isLoad ? call : element;
    }

    /// Operands whose text is within another's belong to it.
    void dropInner() {
        std::vector<TileOperand> outer;
        const auto isWithin = [&](ExprId inner, ExprId other) {
            for (ExprId at = code_.parent(inner); at != noId; at = code_.parent(at))
                if (at == other)
                    return true;
            return false;
        };
        for (const TileOperand& operand : term_.operands) {
            TileOperand kept = operand;
            std::erase_if(kept.uses, [&](ExprId use) {
                return std::ranges::any_of(term_.operands, [&](const TileOperand& other) {
                    return std::ranges::any_of(
                        other.uses, [&](ExprId around) { return isWithin(use, around); });
                });
            });
            if (!kept.uses.empty())
                outer.push_back(std::move(kept));
        }
        term_.operands = std::move(outer);
    }

    [[nodiscard]] bool isOperand(ExprId expr) const {
        return std::ranges::any_of(term_.operands, [&](const TileOperand& operand) {
            return std::ranges::find(operand.uses, expr) != operand.uses.end();
        });
    }

    /// Each round loads the operand, or whether it does follows from values and not from places.
    [[nodiscard]] Gated<void> requireUnconditional(ExprId use) const {
        for (ExprId at = use; code_.parent(at) != noId; at = code_.parent(at)) {
            const Expr& above = body_.expr(code_.parent(at));
            if (code_.mayBeSkipped(at) && asksForPlace(above.children[0]))
                return conditional(use);
        }
        return requireValues(code_.statement(use));
    }
    [[nodiscard]] Gated<void> requireValues(StmtId statement) const {
        for (StmtId at = statement; at != loop_.statement; at = body_.stmt(at).parent)
            if (body_.stmt(at).condition != noId && asksForPlace(body_.stmt(at).condition))
                return conditional(body_.stmt(at).condition);
        return {};
    }
    [[nodiscard]] std::unexpected<Refusal> conditional(ExprId at) const {
        return refuse("conditional-operand",
                      fmt::format("whether line {} loads depends on the place of the output or of "
                                  "the term",
                                  lineOf(at)));
    }
    /// Whether the condition depends on places other than by the operands that it compares.
    [[nodiscard]] bool asksForPlace(ExprId condition) const {
        const Expr& expr = body_.expr(condition);
        if (isOperand(condition) || isKept(condition))
            return false;
        if (expr.kind == ExprKind::BuiltinIndex || expr.kind == ExprKind::Subscript ||
            (expr.kind == ExprKind::Unary && expr.op == "*"))
            return true;
        if (expr.kind == ExprKind::Variable && expr.variable != noId) {
            const Variable& variable = body_.variable(expr.variable);
            // A value that a round or an earlier one has computed.
            const bool isValue = code_.isEverWritten(expr.variable) || variable.init == noId ||
                                 holdsOperand(variable.init);
            return dependence_.ofVariable(expr.variable) != 0 &&
                   (!isValue || expr.variable == loop_.inductionVariable);
        }
        return std::ranges::any_of(expr.children,
                                   [&](ExprId child) { return asksForPlace(child); });
    }
    [[nodiscard]] bool holdsOperand(ExprId expr) const {
        return std::ranges::any_of(code_.expressionsBelow(expr),
                                   [&](ExprId id) { return isOperand(id); });
    }

    const SkillContext& context_;
    const AxisDependence& dependence_;
    const std::vector<KeptElement>& kept_;
    const Loop& loop_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    NestNodeId node_;
    TermLoop term_;
};

} // namespace

bool isSpelledOut(const CodeMap& code, ExprId id) {
    const Expr& expr = code.body().expr(id);
    const ExprId parent = code.parent(id);
    const bool isAllOfIt = [&] {
        for (ExprId at = parent; at != noId; at = code.parent(at))
            if (code.body().expr(at).span == expr.span)
                return false;
        return true;
    }();
    return expr.span.begin < expr.span.end && (!expr.fromMacro || isAllOfIt);
}

bool isPure(const SkillContext& context, ExprId root) {
    const CodeMap& code = context.code();
    return std::ranges::all_of(code.expressionsBelow(root), [&](ExprId id) {
        const Expr& expr = code.body().expr(id);
        if (expr.kind == ExprKind::Call)
            return isKnownCall(context.file, context.kernel, expr) &&
                   std::ranges::none_of(context.kernel.atomics,
                                        [&](const Atomic& atomic) { return atomic.call == id; });
        return expr.kind != ExprKind::Other && !expr.type.isVolatile &&
               !(expr.kind == ExprKind::Binary && isAssignment(expr.op)) &&
               !(expr.kind == ExprKind::Unary &&
                 (expr.op.contains("++") || expr.op.contains("--")));
    });
}

bool readsMemory(const CodeMap& code, ExprId root) {
    return std::ranges::any_of(code.expressionsBelow(root), [&](ExprId id) {
        const Expr& expr = code.body().expr(id);
        return expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Call ||
               (expr.kind == ExprKind::Unary && expr.op == "*") || expr.isArrow;
    });
}

NestNodeId loopNode(const Nest& nest, StmtId loop) {
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id)
        if (nest.node(id).loop() != nullptr && nest.node(id).frame == 0 &&
            nest.node(id).statement == loop)
            return id;
    return noId;
}

Gated<TermLoop> readTermLoop(const SkillContext& context, const AxisDependence& dependence,
                             const std::vector<KeptElement>& kept, std::uint32_t loop) {
    return TermLoopReader(context, dependence, kept, loop).read();
}

} // namespace kernelskill::skills
