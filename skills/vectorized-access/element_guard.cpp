#include "skills/vectorized-access/element_guard.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/thread_position.h"
#include "skills/schedule/term_loop.h"

#include <spdlog/fmt/fmt.h>

#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class GuardReader {
public:
    explicit GuardReader(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()) {}

    Gated<ElementGuard> read() {
        const auto loops = findGridStrideLoops(context_.kernel, code_);
        if (!loops.empty())
            return readLoop(loops);
        KERNELSKILL_CHECK(findIndex());
        KERNELSKILL_CHECK(requireOnlyIndex(context_, code_, guard_.index, 0));
        KERNELSKILL_CHECK(requireKnownPositions(context_));
        steps_.emplace(context_, guard_.index);
        KERNELSKILL_CHECK(scan(body_.stmt(body_.root).children));
        if (guard_.statement == noId || guard_.work.empty())
            return refuse("no-bounds-guard",
                          fmt::format("{} has no bounds check of {} around its work",
                                      context_.kernel.name, body_.variable(guard_.index).name));
        return std::move(guard_);
    }

private:
    [[nodiscard]] std::uint32_t lineOf(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    /// Reads a loop that is all that the kernel does.
    Gated<ElementGuard> readLoop(const std::vector<GridStrideLoop>& loops) {
        const GridStrideLoop& loop = loops.front();
        guard_.index = loop.index;
        guard_.limit = loop.limit;
        guard_.statement = context_.kernel.loops[loop.loop].statement;
        guard_.isLoop = true;
        const Stmt& stmt = body_.stmt(guard_.statement);
        const std::vector<StmtId>& all = body_.stmt(body_.root).children;
        if (stmt.parent != body_.root || stmt.fromMacro || loops.size() > 1 ||
            all.back() != guard_.statement)
            return refuse("work-after-guard",
                          fmt::format("{} does more than the loop on line {}", context_.kernel.name,
                                      lineOf(guard_.statement)));
        for (const StmtId id : all) {
            const StmtKind kind = body_.stmt(id).kind;
            if (id == guard_.statement)
                break;
            if (kind != StmtKind::Declaration && kind != StmtKind::Null)
                return refuse("work-before-guard",
                              fmt::format("line {} runs before the loop", lineOf(id)));
            guard_.declarations.push_back(id);
        }
        KERNELSKILL_CHECK(requireKnownPositions(context_));
        steps_.emplace(context_, guard_.index);
        if (!steps_->isForAll(guard_.limit) || readsMemory(code_, guard_.limit) ||
            !isSpelledOut(code_, guard_.limit))
            return refuse("compound-guard",
                          fmt::format("the limit of the loop on line {} is not the same for all "
                                      "elements",
                                      lineOf(guard_.statement)));
        guard_.work = code_.statementsOf(stmt.children.front());
        KERNELSKILL_CHECK(requireSameForAll());
        return std::move(guard_);
    }

    /// Requires that the work uses no other variable from outside that differs between threads, and
    /// leaves the index alone.
    [[nodiscard]] Gated<void> requireSameForAll() const {
        for (const StmtId top : guard_.work)
            for (const ExprId id : code_.expressionsIn(top)) {
                const Expr& expr = body_.expr(id);
                if (expr.kind != ExprKind::Variable || expr.variable == noId)
                    continue;
                const StmtId declaration = code_.declarationOf(expr.variable);
                const bool isOuter =
                    declaration == noId || !code_.encloses(guard_.statement, declaration);
                if (expr.variable == guard_.index ? code_.isWrite(id)
                                                  : isOuter && steps_->of(id) != Step::None)
                    return refuse("uses-thread-position",
                                  fmt::format("line {} uses {}, which may differ between threads",
                                              lineNumber(context_, expr.span.begin),
                                              body_.variable(expr.variable).name));
            }
        return {};
    }

    /// Finds the variable that numbers the threads along x, and that a condition compares.
    Gated<void> findIndex() {
        for (const Stmt& stmt : body_.stmts) {
            if (stmt.kind != StmtKind::If || stmt.condition == noId)
                continue;
            for (const ExprId id : code_.expressionsBelow(stmt.condition)) {
                const auto check = boundsCheck(code_, id);
                if (check && isFlatIndex(check->variable)) {
                    guard_.index = check->variable;
                    return {};
                }
            }
        }
        return refuse("no-flat-index", fmt::format("no condition of {} compares an index that "
                                                   "numbers the threads of the grid along x",
                                                   context_.kernel.name));
    }

    [[nodiscard]] bool isFlatIndex(VariableId id) const {
        const Variable& variable = body_.variable(id);
        if (variable.storage != Storage::Local || variable.init == noId ||
            code_.isEverWritten(id) || !isIndexType(variable.type) || variable.type.isReference ||
            code_.declarationOf(id) == noId || !isSpelledOut(code_, variable.init))
            return false;
        const auto value = polynomialOf(code_, variable.init);
        if (value == flatThreadIndex())
            return true;
        const auto width = commonBlockExtent(context_, 0);
        return value && width &&
               *value == IndexExpression::symbol({SymbolKind::BlockIdx, 0}) *
                                 IndexExpression::constant(*width) +
                             IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
    }

    /// Reads declarations and guards of one block; the work is what follows them.
    Gated<void> scan(const std::vector<StmtId>& block) {
        std::size_t work = 0;
        std::vector<StmtId> declared;
        for (std::size_t at = 0; at < block.size(); ++at) {
            const StmtId id = block[at];
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::Declaration || stmt.kind == StmtKind::Null) {
                declared.push_back(id);
                continue;
            }
            const bool isReturn = isReturnAlone(stmt);
            const bool isLast = at + 1 == block.size();
            if (!isPlainIf(stmt) || (!isReturn && !isLast)) {
                if (guard_.statement == noId)
                    return refuseBefore(id, isPlainIf(stmt));
                break;
            }
            const ElementGuard before = guard_;
            if (!takeCondition(id, stmt.condition, !isReturn)) {
                guard_ = before;
                if (guard_.statement == noId)
                    return refuse("compound-guard",
                                  fmt::format("the condition on line {} is neither a bounds check "
                                              "of {} nor the same for all of them",
                                              lineOf(id), body_.variable(guard_.index).name));
                break;
            }
            guard_.declarations.insert(guard_.declarations.end(), declared.begin(), declared.end());
            declared.clear();
            work = at + 1;
            if (!isReturn)
                return scan(code_.statementsOf(stmt.children.front()));
        }
        guard_.work.assign(block.begin() + static_cast<std::ptrdiff_t>(work), block.end());
        return {};
    }

    [[nodiscard]] Gated<void> refuseBefore(StmtId id, bool isGuard) const {
        return isGuard ? refuse("work-after-guard",
                                fmt::format("more than the work under the condition on line {} "
                                            "follows",
                                            lineOf(id)))
                       : refuse("work-before-guard",
                                fmt::format("line {} runs before the bounds check", lineOf(id)));
    }

    [[nodiscard]] bool isReturnAlone(const Stmt& stmt) const {
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1)
            return false;
        const auto inner = code_.statementsOf(stmt.children.front());
        return inner.size() == 1 && body_.stmt(inner.front()).kind == StmtKind::Return &&
               body_.stmt(inner.front()).expr == noId;
    }

    [[nodiscard]] bool isPlainIf(const Stmt& stmt) const {
        return stmt.kind == StmtKind::If && stmt.children.size() == 1 && !stmt.fromMacro &&
               stmt.condition != noId && stmt.init == noId && stmt.declared.empty() &&
               isWrittenAs(*context_.file.source, stmt.span, {"if"});
    }

    /// Takes a condition that has to hold, or to fail: the bounds check of the index, and what is
    /// the same for all elements. False for another one.
    bool takeCondition(StmtId statement, ExprId condition, bool holds) {
        const Expr& expr = body_.expr(condition);
        if (expr.kind == ExprKind::Unary && expr.op == "!")
            return takeCondition(statement, expr.children[0], !holds);
        if (expr.kind == ExprKind::Binary && expr.op == (holds ? "&&" : "||"))
            return takeCondition(statement, expr.children[0], holds) &&
                   takeCondition(statement, expr.children[1], holds);
        if (!isPure(context_, condition))
            return false;
        if (steps_->isForAll(condition))
            return true;
        const auto check = boundsCheck(code_, condition);
        if (!check || check->variable != guard_.index || check->whenTrue != holds ||
            guard_.statement != noId || !steps_->isForAll(check->limit) ||
            readsMemory(code_, check->limit) || !isSpelledOut(code_, check->limit))
            return false;
        guard_.statement = statement;
        guard_.limit = check->limit;
        return true;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::optional<ElementSteps> steps_;
    ElementGuard guard_;
};

} // namespace

Gated<ElementGuard> readElementGuard(const SkillContext& context) {
    return GuardReader(context).read();
}

} // namespace kernelskill::skills
