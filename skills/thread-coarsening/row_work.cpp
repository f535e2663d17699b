#include "skills/thread-coarsening/row_work.h"

#include "analysis/queries/guarded_work.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "analysis/syntax/comparison.h"
#include "skills/base/gates.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RowWorkFinder {
public:
    RowWorkFinder(const SkillContext& context, const CodeMap& code, std::uint8_t axis)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()),
          top_(body_.stmt(body_.root).children), thread_{SymbolKind::ThreadIdx, axis},
          block_{SymbolKind::BlockIdx, axis} {
        found_.axis = axis;
    }

    Gated<RowWork> find() {
        KERNELSKILL_CHECK(findRow());
        KERNELSKILL_CHECK(findFirstGuard());
        KERNELSKILL_CHECK(moveDependent());
        KERNELSKILL_CHECK(readGuards());
        KERNELSKILL_CHECK(requireRowInWork());
        KERNELSKILL_CHECK(requireIndependentWork(context_, code_, found_.work, WorkPosition::Seen));
        KERNELSKILL_CHECK(requireNothingBefore());
        KERNELSKILL_CHECK(requireEditableWork());
        return found_;
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] std::uint32_t lineOfStatement(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    /// Whether the value is a row's number, which differs from thread to thread or, by `step`,
    /// from block to block alone.
    [[nodiscard]] bool isRow(const IndexExpression& value, Symbol step) const {
        if (!value.dependsOn(block_) || value.dependsOn(thread_) != (step == thread_))
            return false;
        const auto isFrom = [&](const IndexExpression& first) {
            const auto rest = (value - first).asConstant();
            return rest && *rest >= 0;
        };
        const IndexExpression block = IndexExpression::symbol(block_);
        if (step == block_)
            return isFrom(block);
        const IndexExpression thread = IndexExpression::symbol(thread_);
        if (isFrom(block * IndexExpression::symbol({SymbolKind::BlockDim, found_.axis}) + thread))
            return true;
        const auto height = commonBlockExtent(context_, found_.axis);
        return height && isFrom(block * IndexExpression::constant(*height) + thread);
    }

    void findIndex(Symbol step) {
        for (const StmtId id : top_) {
            for (const VariableId variable : body_.stmt(id).declared) {
                const Variable& candidate = body_.variable(variable);
                if (candidate.init == noId || !isIndexType(candidate.type) ||
                    code_.isEverWritten(variable) || body_.stmt(id).fromMacro ||
                    body_.expr(candidate.init).fromMacro)
                    continue;
                const auto value = polynomialOf(code_, candidate.init);
                if (!value || !isRow(*value, step))
                    continue;
                found_.base = withoutAddedConstant(code_, candidate.init);
                if (found_.base == noId)
                    continue;
                found_.row = variable;
                found_.step = step;
                rowStatement_ = id;
                return;
            }
        }
    }

    /// The index along the axis, by which alone the kernel knows of it.
    Gated<void> findRow() {
        findIndex(thread_);
        if (found_.row == noId)
            findIndex(block_);
        if (found_.row == noId)
            return refuse("no-rows", fmt::format("{0} has no index blockIdx.{1} * blockDim.{1} + "
                                                 "threadIdx.{1}",
                                                 kernel_.name, "xyz"[found_.axis]));
        if (const auto positions = editableBlockPositions(context_); !positions)
            return std::unexpected(positions.error());
        return requireOnlyIndex(context_, code_, found_.row, found_.axis);
    }

    /// `if (out of range) return;`, or an `if` at the kernel's end.
    Gated<void> findFirstGuard() {
        while (firstGuard_ < top_.size() &&
               !(isPlainIf(*context_.file.source, code_, top_[firstGuard_]) &&
                 (returnsOnly(code_, top_[firstGuard_]) || firstGuard_ + 1 == top_.size())))
            ++firstGuard_;
        if (firstGuard_ == top_.size())
            return refuse(
                "no-bounds-guard",
                fmt::format("{} has no plain bounds check around all its work", kernel_.name));
        return {};
    }

    /// Statements before the guards that depend on the row, and the locals that they and the work
    /// set, are work.
    Gated<void> moveDependent() {
        const auto from = top_.begin() + static_cast<std::ptrdiff_t>(firstGuard_);
        std::vector<StmtId> later(from, top_.end());
        for (bool isNew = true; isNew;) {
            isNew = false;
            for (auto at = top_.begin(); at != from; ++at)
                if (!dependent_.contains(*at) && isDependent(*at, later)) {
                    dependent_.insert(*at);
                    later.push_back(*at);
                    isNew = true;
                }
        }
        if (dependent_.contains(rowStatement_))
            return refuse("row-used-elsewhere",
                          fmt::format("{} is declared on line {} beside what depends on it",
                                      body_.variable(found_.row).name,
                                      lineOfStatement(rowStatement_)));
        for (auto at = top_.begin(); at != from; ++at)
            if (dependent_.contains(*at))
                found_.moved.push_back(*at);
        found_.work = found_.moved;
        return {};
    }

    /// `later` are those that are, and the guards and what follows them.
    [[nodiscard]] bool isDependent(StmtId stmt, const std::vector<StmtId>& later) const {
        const auto isIn = [&](ExprId use) {
            return std::ranges::any_of(later, [&](StmtId id) { return code_.holds(id, use); });
        };
        for (const VariableId local : body_.stmt(stmt).declared)
            if (std::ranges::any_of(code_.uses(local),
                                    [&](ExprId use) { return code_.isWrite(use) && isIn(use); }))
                return true;
        return std::ranges::any_of(code_.expressionsIn(stmt), [&](ExprId id) {
            const VariableId variable = body_.expr(id).variable;
            if (body_.expr(id).kind != ExprKind::Variable || variable == noId)
                return false;
            const bool setsForMoved =
                code_.isWrite(id) && std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
                    return std::ranges::any_of(
                        dependent_, [&](StmtId moved) { return code_.holds(moved, use); });
                });
            return variable == found_.row || setsForMoved ||
                   dependent_.contains(code_.declarationOf(variable));
        });
    }

    Gated<void> readGuards() {
        std::vector<StmtId> open(top_.begin() + static_cast<std::ptrdiff_t>(firstGuard_),
                                 top_.end());
        while (!open.empty()) {
            const StmtId next = open.front();
            const bool isIf = isPlainIf(*context_.file.source, code_, next);
            const bool isReturn = isIf && returnsOnly(code_, next);
            const bool isBlock = isIf && open.size() == 1 && !isReturn;
            const auto bounds =
                isBlock || isReturn ? boundsOf(next, isReturn) : std::vector<RowBound>{};
            if (bounds.empty()) {
                if (found_.guards.empty())
                    return refuse("compound-guard",
                                  fmt::format("the condition on line {} is not made of plain "
                                              "bounds",
                                              lineOfStatement(next)));
                if (body_.stmt(next).kind != StmtKind::Declaration)
                    break;
                found_.work.push_back(next); // Between two checks, or before none.
                open.erase(open.begin());
                continue;
            }
            found_.guards.push_back(next);
            found_.bounds.insert(found_.bounds.end(), bounds.begin(), bounds.end());
            open.erase(open.begin());
            if (isBlock)
                open = code_.statementsOf(body_.stmt(next).children[0]);
        }
        found_.work.insert(found_.work.end(), open.begin(), open.end());
        if (!found_.work.empty() && body_.stmt(found_.work.back()).kind == StmtKind::Return &&
            body_.stmt(found_.work.back()).expr == noId)
            found_.work.pop_back();
        if (found_.work.size() == found_.moved.size())
            return refuse("no-bounds-guard",
                          fmt::format("no work follows the bounds check on line {}",
                                      lineOfStatement(found_.guards.front())));
        return {};
    }

    /// Conditions that all have to hold; empty where one of them says nothing plain of rows.
    [[nodiscard]] std::vector<RowBound> boundsOf(StmtId guard, bool isNegated) const {
        std::vector<RowBound> bounds;
        std::vector<ExprId> open{body_.stmt(guard).condition};
        while (!open.empty()) {
            const ExprId id = open.back();
            open.pop_back();
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Binary && expr.op == (isNegated ? "||" : "&&")) {
                open.insert(open.end(), expr.children.rbegin(), expr.children.rend());
                continue;
            }
            RowBound bound{id, isNegated, std::nullopt};
            if (names(code_, id, found_.row)) {
                bound.onRow = rowComparison(code_, id, found_.row);
                if (bound.onRow && isNegated)
                    bound.onRow->op = oppositeOperator(bound.onRow->op);
                if (!bound.onRow || bound.onRow->op == "==")
                    return {};
            }
            if (!isSteady(id))
                return {};
            bounds.push_back(bound);
        }
        return bounds;
    }

    /// Has the same value whenever it is asked for, and is about no element of the work.
    [[nodiscard]] bool isSteady(ExprId condition) const {
        return std::ranges::all_of(code_.expressionsBelow(condition), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Variable && expr.variable != noId &&
                expr.variable != found_.row) {
                const StmtId declaration = code_.declarationOf(expr.variable);
                const bool isEarly = declaration == noId || isBeforeGuards(declaration);
                return isEarly && !dependent_.contains(declaration) &&
                       !changesBehindGuard(expr.variable);
            }
            const bool isMemory = expr.kind == ExprKind::Subscript ||
                                  (expr.kind == ExprKind::Unary && expr.op == "*") ||
                                  (expr.kind == ExprKind::Member && expr.isArrow);
            const bool changes = expr.kind == ExprKind::Other || expr.kind == ExprKind::Call ||
                                 (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
                                 (expr.kind == ExprKind::Unary &&
                                  (expr.op.contains("++") || expr.op.contains("--")));
            const bool isSmaller =
                expr.kind == ExprKind::Call && (expr.name == "min" || expr.name == "max");
            return !isMemory && (!changes || isSmaller);
        });
    }

    [[nodiscard]] bool isBeforeGuards(StmtId stmt) const {
        return std::find(top_.begin(), top_.begin() + static_cast<std::ptrdiff_t>(firstGuard_),
                         stmt) != top_.begin() + static_cast<std::ptrdiff_t>(firstGuard_);
    }

    [[nodiscard]] bool changesBehindGuard(VariableId variable) const {
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            return code_.isWrite(use) &&
                   std::any_of(top_.begin() + static_cast<std::ptrdiff_t>(firstGuard_), top_.end(),
                               [&](StmtId stmt) { return code_.holds(stmt, use); });
        });
    }

    [[nodiscard]] bool isInWork(ExprId expr) const {
        return std::ranges::any_of(found_.work,
                                   [&](StmtId stmt) { return code_.holds(stmt, expr); });
    }

    Gated<void> requireRowInWork() const {
        const std::string& name = body_.variable(found_.row).name;
        for (const ExprId use : code_.uses(found_.row)) {
            const bool isInGuard =
                std::ranges::find(found_.guards, code_.statement(use)) != found_.guards.end();
            if (!isInGuard && !isInWork(use))
                return refuse("row-used-elsewhere",
                              fmt::format("{} on line {} is used before the bounds check", name,
                                          lineOf(use)));
            if (!isWrittenOut(*context_.file.source, body_, use))
                return refuse("row-used-elsewhere",
                              fmt::format("{} on line {} comes out of a macro", name, lineOf(use)));
        }
        return {};
    }

    /// Code before the bounds check has no effect but on locals: fewer threads run it.
    Gated<void> requireNothingBefore() const {
        for (std::size_t at = 0; at < firstGuard_; ++at)
            for (const ExprId id : code_.expressionsIn(top_[at])) {
                const bool stores =
                    std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
                        return access.expression == id && access.kind != AccessKind::Read &&
                               access.space != MemorySpace::Local;
                    });
                const Expr& expr = body_.expr(id);
                const bool mayStore = expr.kind == ExprKind::Call &&
                                      std::ranges::any_of(expr.children, [&](ExprId argument) {
                                          return body_.expr(argument).type.pointerDepth > 0;
                                      });
                if (stores || mayStore)
                    return refuse(
                        "work-before-guard",
                        fmt::format("line {} stores before the bounds check", lineOf(id)));
            }
        return {};
    }

    /// Statements that are the use of a macro are copied with its arguments.
    Gated<void> requireEditableWork() const {
        for (const StmtId top : found_.work)
            for (const StmtId id : code_.statementsIn(top)) {
                const Stmt& stmt = body_.stmt(id);
                if (stmt.fromMacro && stmt.kind != StmtKind::Expression)
                    return refuse("from-macro",
                                  fmt::format("line {} comes out of a macro", lineOfStatement(id)));
                for (const VariableId local : stmt.declared)
                    for (const ExprId use : code_.uses(local))
                        if (!isWrittenOut(*context_.file.source, body_, use))
                            return refuse("from-macro",
                                          fmt::format("{} on line {} comes out of a macro",
                                                      body_.variable(local).name, lineOf(use)));
            }
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const std::vector<StmtId>& top_;
    Symbol thread_; ///< Its place in the block along the axis,
    Symbol block_;  ///< and the block's.
    StmtId rowStatement_ = noId;
    std::size_t firstGuard_ = 0;
    std::set<StmtId> dependent_;
    RowWork found_;
};

} // namespace

bool isWrittenOut(const SourceText& source, const FunctionBody& body, ExprId use) {
    const Expr& expr = body.expr(use);
    return source.slice(expr.span) == body.variable(expr.variable).name;
}

bool RowWork::isBoundedAbove() const {
    return std::ranges::any_of(bounds, [](const RowBound& bound) {
        return bound.onRow && bound.onRow->op.starts_with('<');
    });
}

RowTest testOf(const CodeMap& code, const RowBound& bound) {
    if (bound.onRow)
        return {bound.onRow->rowSide, bound.onRow->op, bound.onRow->bound};
    const Expr& expr = code.body().expr(bound.expr);
    if (!bound.isNegated)
        return {bound.expr, "", noId};
    const std::string_view turned = oppositeComparison(code.body(), expr);
    if (turned.empty())
        return {bound.expr, "!", noId};
    return {expr.children[0], turned, expr.children[1]};
}

Gated<RowWork> findRowWork(const SkillContext& context, const CodeMap& code, std::uint8_t axis) {
    return RowWorkFinder(context, code, axis).find();
}

} // namespace kernelskill::skills
