#include "skills/stencil-tiling/marched_work.h"

#include "analysis/queries/guarded_work.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "analysis/syntax/comparison.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"
#include "skills/schedule/threads_apart.h"
#include "skills/stencil-tiling/march_index.h"
#include "skills/stencil-tiling/separate_rounds.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class MarchedWorkFinder {
public:
    MarchedWorkFinder(const SkillContext& context, std::uint8_t axis)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          source_(*context.file.source) {
        found_.axis = axis;
    }

    Gated<MarchedWork> find() {
        KERNELSKILL_CHECK(requireThreadsApart(context_));
        if (!kernel_.atomics.empty())
            return refuse("atomic", fmt::format("line {} updates memory that threads share",
                                                lineOf(kernel_.atomics.front().call)));
        KERNELSKILL_TRY(const MarchIndex index, marchIndex(context_, found_.axis));
        found_.index = index.variable;
        found_.base = index.base;
        indexStatement_ = index.statement;
        KERNELSKILL_CHECK(walk(body_.stmt(body_.root).children));
        if (found_.upper.empty() || found_.work.empty())
            return refuse("no-bounds-guard", fmt::format("no plain bounds check of {} bounds {} "
                                                         "from above",
                                                         kernel_.name, name()));
        KERNELSKILL_CHECK(requireSeparateRounds(context_, found_, dependent_));
        return std::move(found_);
    }

private:
    [[nodiscard]] const std::string& name() const { return body_.variable(found_.index).name; }
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] std::uint32_t lineOfStatement(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    /// Whether the expression's value follows from the position.
    [[nodiscard]] bool dependsOnIndex(ExprId expr) const {
        return std::ranges::any_of(code_.expressionsBelow(expr),
                                   [&](ExprId id) { return namesDependent(id); });
    }

    [[nodiscard]] bool namesDependent(ExprId id) const {
        const Expr& expr = body_.expr(id);
        return expr.kind == ExprKind::Variable && expr.variable != noId &&
               (expr.variable == found_.index || dependent_.contains(expr.variable));
    }

    [[nodiscard]] bool asksForIndex(StmtId stmt) const {
        return std::ranges::any_of(code_.expressionsIn(stmt),
                                   [&](ExprId id) { return namesDependent(id); });
    }

    /// Whether both operands stand in the file, and not in a macro's text.
    [[nodiscard]] bool isWrittenApart(const Expr& expr) const {
        return expr.kind == ExprKind::Binary && expr.children.size() == 2 &&
               body_.expr(expr.children[0]).span.end <= body_.expr(expr.children[1]).span.begin;
    }

    [[nodiscard]] std::vector<ExprId> partsOf(ExprId condition, std::string_view op) const {
        std::vector<ExprId> parts;
        std::vector<ExprId> open{condition};
        while (!open.empty()) {
            const ExprId id = open.back();
            open.pop_back();
            const Expr& expr = body_.expr(id);
            if (expr.op == op && isWrittenApart(expr))
                open.insert(open.end(), expr.children.rbegin(), expr.children.rend());
            else
                parts.push_back(id);
        }
        return parts;
    }

    /// Whether it is an early return that does not ask for the position.
    [[nodiscard]] bool isCheckOfOthers(StmtId guard) const {
        return returnsOnly(code_, guard) && !dependsOnIndex(body_.stmt(guard).condition);
    }

    /// Whether a later statement of the list is a check that all rounds stand under, or bounds
    /// them.
    [[nodiscard]] bool isGuardAhead(const std::vector<StmtId>& list, std::size_t from) const {
        for (std::size_t i = from; i < list.size(); ++i)
            if (isPlainIf(source_, code_, list[i]) &&
                (isCheckOfOthers(list[i]) ||
                 ((returnsOnly(code_, list[i]) || i + 1 == list.size()) && holdsBound(list[i]))))
                return true;
        return false;
    }

    /// Whether the check bounds the position, or a check in its branch does.
    [[nodiscard]] bool holdsBound(StmtId guard) const {
        const bool returns = returnsOnly(code_, guard);
        for (const ExprId part : partsOf(body_.stmt(guard).condition, returns ? "||" : "&&"))
            if (sideOfIndex(part))
                return true;
        if (returns)
            return false;
        const std::vector<StmtId> inner = code_.statementsOf(body_.stmt(guard).children[0]);
        return isGuardAhead(inner, 0);
    }

    Gated<void> walk(std::vector<StmtId> list) {
        if (!list.empty() && body_.stmt(list.back()).kind == StmtKind::Return &&
            body_.stmt(list.back()).expr == noId)
            list.pop_back();
        for (std::size_t i = 0; i < list.size(); ++i) {
            const StmtId id = list[i];
            if (id == indexStatement_)
                continue;
            const bool returns = isPlainIf(source_, code_, id) && returnsOnly(code_, id);
            const bool isBlock = isPlainIf(source_, code_, id) && !returns && i + 1 == list.size();
            if (isBlock && holdsBound(id)) {
                KERNELSKILL_CHECK(readGuard(id, false));
                return walk(code_.statementsOf(body_.stmt(id).children[0]));
            }
            if (returns && (found_.upper.empty() || isGuardAhead(list, i))) {
                KERNELSKILL_CHECK(readGuard(id, true));
                continue;
            }
            if (!found_.upper.empty() && !isGuardAhead(list, i)) {
                takeWork(list, i);
                return {};
            }
            if (!isGuardAhead(list, i))
                return {};
            KERNELSKILL_CHECK(passStatement(id));
        }
        return {};
    }

    /// Takes the rest of the list as the work, without the declarations at its beginning that have
    /// one value for all rounds.
    void takeWork(const std::vector<StmtId>& list, std::size_t from) {
        while (from + 1 < list.size() && isAlike(list[from]))
            ++from;
        found_.work.assign(list.begin() + static_cast<std::ptrdiff_t>(from), list.end());
    }

    /// Whether it declares what has one value for all rounds.
    [[nodiscard]] bool isAlike(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Declaration && !asksForIndex(id) &&
               std::ranges::none_of(stmt.declared, [&](VariableId local) {
                   return body_.variable(local).init == noId || code_.isEverWritten(local);
               });
    }

    /// Leaves a statement before the work in its place, or moves it into the rounds.
    Gated<void> passStatement(StmtId id) {
        const Stmt& stmt = body_.stmt(id);
        const bool isAssignment = stmt.kind == StmtKind::Expression &&
                                  body_.expr(stmt.expr).kind == ExprKind::Binary &&
                                  body_.expr(stmt.expr).op == "=" &&
                                  code_.namedVariable(body_.expr(stmt.expr).children[0]) != noId;
        const bool storesElsewhere =
            std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
                return access.kind != AccessKind::Read && access.space != MemorySpace::Local &&
                       code_.holds(id, access.expression);
            });
        if (storesElsewhere)
            return refuse("work-before-guard", fmt::format("line {} stores before the bounds check",
                                                           lineOfStatement(id)));
        if (!asksForIndex(id))
            return {};
        if (stmt.fromMacro || (stmt.kind != StmtKind::Declaration && !isAssignment))
            return refuse("work-before-guard",
                          fmt::format("line {} works with {} before the bounds check",
                                      lineOfStatement(id), name()));
        for (const VariableId local : stmt.declared)
            dependent_.insert(local);
        if (isAssignment)
            dependent_.insert(code_.namedVariable(body_.expr(stmt.expr).children[0]));
        found_.moved.push_back(id);
        return {};
    }

    struct Side {
        bool isLeft = true;
        std::int64_t shift = 0; ///< Added to the position on its side.
    };

    /// The side of a comparison that is the position, with a constant; nullopt if it is none.
    [[nodiscard]] std::optional<Side> sideOfIndex(ExprId part) const {
        const Expr& expr = body_.expr(part);
        if (!isWrittenApart(expr) || oppositeOperator(expr.op).empty())
            return std::nullopt;
        for (const std::size_t side : {0U, 1U}) {
            const auto shift = shiftOf(expr.children[side]);
            if (shift && isSteady(expr.children[1 - side]))
                return Side{side == 0, *shift};
        }
        return std::nullopt;
    }

    /// Whether the bound stays the same while the kernel runs and is not read from memory.
    [[nodiscard]] bool isSteady(ExprId bound) const {
        return std::ranges::none_of(code_.expressionsBelow(bound), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return namesDependent(id) || expr.kind == ExprKind::Subscript ||
                   expr.kind == ExprKind::Call ||
                   (expr.kind == ExprKind::Unary && expr.op == "*") ||
                   (expr.kind == ExprKind::Variable && expr.variable != noId &&
                    code_.isEverWritten(expr.variable));
        });
    }

    /// The constant that is added to the position; nullopt for another expression.
    [[nodiscard]] std::optional<std::int64_t> shiftOf(ExprId id) const {
        if (code_.namedVariable(id) == found_.index)
            return 0;
        const Expr& expr = body_.expr(code_.withoutCasts(id));
        if (expr.kind != ExprKind::Binary || (expr.op != "+" && expr.op != "-"))
            return std::nullopt;
        for (const std::size_t side : {0U, 1U}) {
            if (code_.namedVariable(expr.children[side]) != found_.index ||
                (side == 1 && expr.op == "-"))
                continue;
            const auto constant = code_.constantValue(expr.children[1 - side]);
            if (constant)
                return expr.op == "-" ? -*constant : *constant;
        }
        return std::nullopt;
    }

    Gated<void> readGuard(StmtId id, bool returnsEarly) {
        MarchGuard guard{id, returnsEarly, {}, false};
        for (const ExprId part : partsOf(body_.stmt(id).condition, returnsEarly ? "||" : "&&")) {
            if (!dependsOnIndex(part)) {
                guard.kept.push_back(part);
                continue;
            }
            guard.isChanged = true;
            const auto side = sideOfIndex(part);
            if (!side || !addBound(part, *side, returnsEarly))
                return refuse("compound-guard",
                              fmt::format("the condition on line {} says more of {} than a bound",
                                          lineOf(part), name()));
        }
        found_.guards.push_back(std::move(guard));
        return {};
    }

    /// Adds a part of a condition to the bounds; false if it is none, or a second lower one.
    [[nodiscard]] bool addBound(ExprId part, const Side& side, bool isNegated) {
        const Expr& expr = body_.expr(part);
        std::string_view op = side.isLeft ? std::string_view(expr.op) : mirroredOperator(expr.op);
        if (isNegated)
            op = oppositeOperator(op);
        const bool isUnsigned = isUnsignedIndexType(body_.variable(found_.index).type);
        if (isUnsigned && side.shift < 0)
            return false;
        const ExprId bound = expr.children[side.isLeft ? 1 : 0];
        if (op == "<" || op == "<=") {
            found_.upper.push_back(isNegated ? negated(context_, code_, part)
                                             : std::string(source_.slice(expr.span)));
            return true;
        }
        const auto constant = code_.constantValue(bound);
        const bool isAboveZero = op == "!=" && constant == 0 && side.shift == 0;
        if ((op != ">" && op != ">=" && !isAboveZero) || !found_.lower.empty())
            return false;
        const std::int64_t more = (op == ">=" ? 0 : 1) - side.shift;
        const Expr& limit = body_.expr(bound);
        if (constant && limit.kind == ExprKind::Integer && !limit.fromMacro) {
            found_.lower = fmt::format("{}", *constant + more);
            return true;
        }
        const std::string text{source_.slice(limit.span)};
        if (limit.kind == ExprKind::Conditional || limit.op == "<<" || limit.op == ">>" ||
            limit.op == "&" || limit.op == "|")
            return false;
        found_.lower = more == 0 ? text
                                 : fmt::format("{} {} {}", text, more > 0 ? '+' : '-',
                                               more > 0 ? more : -more);
        return true;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    StmtId indexStatement_ = noId;
    std::set<VariableId> dependent_; ///< Locals before the work that follow from the position.
    MarchedWork found_;
};

} // namespace

Gated<MarchedWork> marchedWork(const SkillContext& context, std::uint8_t axis) {
    return MarchedWorkFinder(context, axis).find();
}

} // namespace kernelskill::skills
