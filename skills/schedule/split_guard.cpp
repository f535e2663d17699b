#include "skills/schedule/split_guard.h"

#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class GuardSplitter {
public:
    GuardSplitter(const SkillContext& context, const SharedLoops& shared)
        : context_(context), shared_(shared), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), layout_(*context.file.source, context.kernel) {}

    Gated<std::optional<SplitGuard>> find() {
        StmtId guard = noId;
        for (const LaneLoop& loop : shared_.loops)
            if (needsBarrier(loop))
                KERNELSKILL_CHECK(takeGuards(loop, guard));
        if (guard == noId)
            return std::optional<SplitGuard>{};
        split_.statement = guard;
        KERNELSKILL_CHECK(readGuard());
        KERNELSKILL_CHECK(findParts());
        KERNELSKILL_CHECK(moveDeclarations());
        return std::optional{std::move(split_)};
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::unexpected<Refusal> no(Span span, std::string_view why) const {
        return refuse("guard", fmt::format("line {} {}", line(span), why));
    }

    /// The one check around the loop that keeps some threads of a block away.
    Gated<void> takeGuards(const LaneLoop& loop, StmtId& guard) const {
        for (const NestNodeId id : around(nest_, loop.node)) {
            const NestNode& node = nest_.node(id);
            if (node.guard() != nullptr && isUniform(node.guard()->condition))
                continue;
            if (node.loop() != nullptr) {
                const NestLoop& outer = *node.loop();
                if (!outer.mayStop && outer.first && outer.end && isUniform(*outer.first) &&
                    isUniform(*outer.end))
                    continue;
                return no(node.span, "has rounds that not all threads of a block make");
            }
            if (node.frame != 0 || node.statement == noId ||
                (guard != noId && guard != node.statement))
                return no(node.span, "keeps further threads of the block away");
            guard = node.statement;
        }
        return {};
    }

    /// The same for all threads of a block.
    [[nodiscard]] bool isUniform(const IndexExpression& expression) const {
        return std::ranges::all_of(expression.terms(), [&](const auto& term) {
            return std::ranges::all_of(term.first, [&](Symbol symbol) {
                if (isBuiltIn(symbol))
                    return symbol.kind != SymbolKind::ThreadIdx;
                const NestSymbol* named = nest_.symbols.find(symbol);
                if (named == nullptr)
                    return false;
                if (named->kind == NestSymbolKind::Derived)
                    return std::ranges::all_of(
                               named->operands,
                               [&](const IndexExpression& part) { return isUniform(part); }) &&
                           std::ranges::all_of(named->choice, [&](const NestCondition& choice) {
                               return isUniform(choice);
                           });
                return named->kind == NestSymbolKind::Parameter;
            });
        });
    }
    [[nodiscard]] bool isUniform(const NestCondition& condition) const {
        return condition.kind != NestCondition::Kind::Unknown && isUniform(condition.expression) &&
               std::ranges::all_of(condition.parts,
                                   [&](const NestCondition& part) { return isUniform(part); });
    }

    /// `if (...) { ... }` or `if (...) return;` of the kernel's outermost block.
    Gated<void> readGuard() {
        const Stmt& stmt = body_.stmt(split_.statement);
        const std::string_view text = context_.file.source->slice(stmt.span);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.parent != body_.root ||
            stmt.init != noId || !stmt.declared.empty() || stmt.fromMacro ||
            !isWrittenAs(*context_.file.source, stmt.span, {"if"}) ||
            !hasOwnLines(body_, layout_, split_.statement, split_.statement))
            return no(stmt.span, "is no bounds check of the kernel's outermost block");
        const std::vector<Token> tokens = lex(text);
        const std::size_t close = tokens.size() > 1 ? matchingBracket(tokens, 1) : tokens.size();
        if (close + 1 >= tokens.size() || !tokens[1].is("("))
            return no(stmt.span, "is written in a way that an edit would not keep");
        split_.condition =
            text.substr(tokens[1].span.end, tokens[close].span.begin - tokens[1].span.end);
        KERNELSKILL_CHECK(requireStable(stmt.condition));
        const Stmt& then = body_.stmt(stmt.children.front());
        const bool isBlock = then.kind == StmtKind::Compound;
        split_.returnsEarly = then.kind == StmtKind::Return ||
                              (isBlock && then.children.size() == 1 &&
                               body_.stmt(then.children.front()).kind == StmtKind::Return);
        if (split_.returnsEarly) {
            split_.condition = body_.expr(stmt.condition).fromMacro
                                   ? fmt::format("!({})", split_.condition)
                                   : negated(context_, code_, stmt.condition);
            split_.opening = fmt::format("if ({}) {{", split_.condition);
            split_.block = body_.root;
            return requireOwnEnd();
        }
        if (!isBlock || !tokens[close + 1].is("{"))
            return no(stmt.span, "is written in a way that an edit would not keep");
        split_.opening = text.substr(0, tokens[close + 1].span.end);
        split_.block = stmt.children.front();
        return {};
    }

    [[nodiscard]] Gated<void> requireOwnEnd() const {
        if (layout_.startsLine(context_.kernel.bodySpan.end - 1))
            return {};
        return no({context_.kernel.bodySpan.end - 1, context_.kernel.bodySpan.end},
                  "holds more than the kernel's end");
    }

    /// The condition has one value throughout the kernel.
    [[nodiscard]] Gated<void> requireStable(ExprId condition) const {
        for (const ExprId id : code_.expressionsBelow(condition)) {
            const Expr& expr = body_.expr(id);
            const bool isWritten = expr.variable != noId && code_.isEverWritten(expr.variable);
            const bool isMemory = expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Call ||
                                  expr.kind == ExprKind::Other ||
                                  (expr.kind == ExprKind::Unary && expr.op == "*") ||
                                  (expr.kind == ExprKind::Member && expr.isArrow);
            if (isWritten || isMemory)
                return no(expr.span, "has a condition that may change before it is asked again");
        }
        return {};
    }

    /// Barriers stand between statements of the block.
    Gated<void> findParts() {
        const std::vector<StmtId>& all = body_.stmt(split_.block).children;
        for (const LaneLoop& loop : shared_.loops) {
            const auto at = std::ranges::find(all, loop.statement);
            const auto index = static_cast<std::size_t>(at - all.begin());
            if (needsBarrier(loop) && at == all.end())
                return no(body_.stmt(loop.statement).span,
                          "begins a loop that is no statement of the bounds check's own");
            if (needsBarrier(loop) && loop.syncsBefore)
                cuts_.push_back(index);
            if (needsBarrier(loop))
                cuts_.push_back(index + 1);
        }
        const std::uint32_t last = lastBarrier();
        split_.endsAlone = std::ranges::none_of(shared_.loops, [&](const LaneLoop& loop) {
            return body_.stmt(loop.statement).span.begin >= last;
        });
        return {};
    }
    /// The end of the last loop that a barrier stands behind.
    [[nodiscard]] std::uint32_t lastBarrier() const {
        std::uint32_t last = 0;
        for (const LaneLoop& loop : shared_.loops)
            if (needsBarrier(loop))
                last = std::max(last, body_.stmt(loop.statement).span.end);
        return last;
    }
    [[nodiscard]] auto partOf(std::size_t statement) const {
        return std::ranges::count_if(cuts_, [&](std::size_t cut) { return cut <= statement; });
    }

    Gated<void> moveDeclarations() {
        const std::vector<StmtId>& all = body_.stmt(split_.block).children;
        const std::size_t first =
            split_.returnsEarly
                ? static_cast<std::size_t>(std::ranges::find(all, split_.statement) - all.begin()) +
                      1
                : 0;
        for (std::size_t i = first; i < all.size(); ++i) {
            const Stmt& stmt = body_.stmt(all[i]);
            if (stmt.kind != StmtKind::Declaration)
                continue;
            declared_.insert(declared_.end(), stmt.declared.begin(), stmt.declared.end());
            const bool isUsedLater = std::ranges::any_of(stmt.declared, [&](VariableId variable) {
                return isFolded(variable) || isUsedBehind(variable, i, all);
            });
            if (isUsedLater)
                KERNELSKILL_CHECK(moveDeclaration(all[i]));
        }
        return {};
    }

    /// Whether a part behind that of `all[statement]` uses the variable.
    [[nodiscard]] bool isUsedBehind(VariableId variable, std::size_t statement,
                                    const std::vector<StmtId>& all) const {
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            for (std::size_t at = statement + 1; at < all.size(); ++at)
                if (partOf(at) != partOf(statement) && code_.holds(all[at], use))
                    return true;
            return false;
        });
    }

    /// Whether a loop folds into the variable: the fold behind its barrier writes it again.
    [[nodiscard]] bool isFolded(VariableId variable) const {
        return std::ranges::any_of(shared_.loops, [&](const LaneLoop& loop) {
            return std::ranges::find(loop.folds, body_.variable(variable).name, &LaneFold::name) !=
                       loop.folds.end() ||
                   isOfJoinedFold(loop, variable);
        });
    }

    Gated<void> moveDeclaration(StmtId id) {
        const Stmt& stmt = body_.stmt(id);
        const auto stuck = [&](std::string_view why) {
            return refuse("declaration",
                          fmt::format("the declaration on line {} {}", line(stmt.span), why));
        };
        if (stmt.fromMacro || !hasOwnLines(body_, layout_, id, id))
            return stuck("does not stand on lines of its own");
        const bool isPure = std::ranges::all_of(stmt.declared, [&](VariableId variable) {
            const Variable& declared = body_.variable(variable);
            return !declared.type.isReference &&
                   (declared.init == noId || isPureValue(declared.init));
        });
        if (isPure) {
            split_.moved.push_back(id);
            for (const VariableId variable : stmt.declared)
                std::erase(declared_, variable);
            return {};
        }
        const Variable& variable = body_.variable(stmt.declared.front());
        if (stmt.declared.size() > 1 || variable.type.isReference || variable.fromMacro ||
            variable.type.scalar == ScalarKind::Unknown || !variable.type.arrayExtents.empty() ||
            variable.type.spelling.contains("auto") ||
            body_.expr(variable.init).kind == ExprKind::InitList)
            return stuck("cannot be parted from its value");
        split_.emptied.push_back(id);
        return {};
    }

    /// It can be computed by any thread, before the bounds check.
    [[nodiscard]] bool isPureValue(ExprId value) const {
        return std::ranges::all_of(code_.expressionsBelow(value), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            switch (expr.kind) {
            case ExprKind::Integer:
            case ExprKind::Floating:
            case ExprKind::BuiltinIndex:
            case ExprKind::Cast:
                return true;
            case ExprKind::Unary:
                return expr.op == "-" || expr.op == "~" || expr.op == "!";
            case ExprKind::Binary:
                return expr.op == "+" || expr.op == "-" || expr.op == "*";
            case ExprKind::Variable:
                return expr.variable != noId && !code_.isEverWritten(expr.variable) &&
                       std::ranges::find(declared_, expr.variable) == declared_.end();
            default:
                return false;
            }
        });
    }

    const SkillContext& context_;
    const SharedLoops& shared_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    SourceLayout layout_;
    SplitGuard split_;
    std::vector<std::size_t> cuts_;    ///< Statements of the block that a new part begins with.
    std::vector<VariableId> declared_; ///< In the block, and not moved in front of it.
};

} // namespace

bool needsBarrier(const LaneLoop& loop) {
    return folds(loop) || loop.syncsBefore || loop.syncsAfter;
}

Gated<std::optional<SplitGuard>> splitGuard(const SkillContext& context,
                                            const SharedLoops& shared) {
    return GuardSplitter(context, shared).find();
}

} // namespace kernelskill::skills
