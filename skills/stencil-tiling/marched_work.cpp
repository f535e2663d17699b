#include "skills/stencil-tiling/marched_work.h"

#include "analysis/queries/guarded_work.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/threads_apart.h"
#include "skills/stencil-tiling/march_index.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string_view mirrored(std::string_view op) {
    return op == "<" ? ">" : op == ">" ? "<" : op == "<=" ? ">=" : op == ">=" ? "<=" : op;
}

std::string_view opposite(std::string_view op) {
    return op == "<"    ? ">="
           : op == ">=" ? "<"
           : op == ">"  ? "<="
           : op == "<=" ? ">"
           : op == "==" ? "!="
           : op == "!=" ? "=="
                        : "";
}

class MarchedWorkFinder {
public:
    MarchedWorkFinder(const SkillContext& context, std::uint8_t axis)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel) {
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
        KERNELSKILL_CHECK(requireOnlyUses());
        KERNELSKILL_CHECK(requireNothingCarried());
        KERNELSKILL_CHECK(requireEditableWork());
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

    [[nodiscard]] bool isPlainIf(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::If && stmt.children.size() == 1 && stmt.condition != noId &&
               stmt.init == noId && stmt.declared.empty() && !stmt.fromMacro &&
               isWrittenAs(source_, stmt.span, {"if"});
    }

    [[nodiscard]] bool returnsOnly(StmtId guard) const {
        const std::vector<StmtId> inner = code_.statementsOf(body_.stmt(guard).children[0]);
        return inner.size() == 1 && body_.stmt(inner[0]).kind == StmtKind::Return &&
               body_.stmt(inner[0]).expr == noId;
    }

    /// Whether the value follows from the position.
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

    /// Both operands stand in the file, and not in a macro's text.
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

    /// An early return that does not ask for the position.
    [[nodiscard]] bool isCheckOfOthers(StmtId guard) const {
        return returnsOnly(guard) && !dependsOnIndex(body_.stmt(guard).condition);
    }

    /// Whether a later statement of the list is a check that all rounds stand under, or bounds
    /// them.
    [[nodiscard]] bool isGuardAhead(const std::vector<StmtId>& list, std::size_t from) const {
        for (std::size_t i = from; i < list.size(); ++i)
            if (isPlainIf(list[i]) &&
                (isCheckOfOthers(list[i]) ||
                 ((returnsOnly(list[i]) || i + 1 == list.size()) && holdsBound(list[i]))))
                return true;
        return false;
    }

    /// Whether it, or the check that is all it holds, bounds the position.
    [[nodiscard]] bool holdsBound(StmtId guard) const {
        const bool returns = returnsOnly(guard);
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
            const bool returns = isPlainIf(id) && returnsOnly(id);
            const bool isBlock = isPlainIf(id) && !returns && i + 1 == list.size();
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

    /// The rest of the list, a last return aside, and what is alike for all rounds at its
    /// beginning.
    void takeWork(const std::vector<StmtId>& list, std::size_t from) {
        while (from + 1 < list.size() && isAlike(list[from]))
            ++from;
        found_.work.assign(list.begin() + static_cast<std::ptrdiff_t>(from), list.end());
    }

    /// Declares what has one value for all rounds.
    [[nodiscard]] bool isAlike(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Declaration && !asksForIndex(id) &&
               std::ranges::none_of(stmt.declared, [&](VariableId local) {
                   return body_.variable(local).init == noId || code_.isEverWritten(local);
               });
    }

    /// A statement before the work: it stays, for all rounds, or moves into them.
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
        if (!isWrittenApart(expr) || opposite(expr.op).empty())
            return std::nullopt;
        for (const std::size_t side : {0U, 1U}) {
            const auto shift = shiftOf(expr.children[side]);
            if (shift && isSteady(expr.children[1 - side]))
                return Side{side == 0, *shift};
        }
        return std::nullopt;
    }

    /// A bound that stays while the kernel runs, other than by what memory holds.
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

    /// False if it is no bound, or the second one from below.
    [[nodiscard]] bool addBound(ExprId part, const Side& side, bool isNegated) {
        const Expr& expr = body_.expr(part);
        std::string_view op = side.isLeft ? std::string_view(expr.op) : mirrored(expr.op);
        if (isNegated)
            op = opposite(op);
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

    [[nodiscard]] bool isInRounds(ExprId use) const {
        const auto holds = [&](StmtId stmt) { return code_.holds(stmt, use); };
        return std::ranges::any_of(found_.work, holds) || std::ranges::any_of(found_.moved, holds);
    }

    [[nodiscard]] bool isInBounds(ExprId use) const {
        return std::ranges::any_of(found_.guards, [&](const MarchGuard& guard) {
            const Stmt& stmt = body_.stmt(guard.statement);
            return body_.expr(stmt.condition).span.contains(body_.expr(use).span) &&
                   std::ranges::none_of(guard.kept, [&](ExprId kept) {
                       return body_.expr(kept).span.contains(body_.expr(use).span);
                   });
        });
    }

    /// The position, and what follows from it, is asked for in rounds alone.
    Gated<void> requireOnlyUses() const {
        std::set<VariableId> all = dependent_;
        all.insert(found_.index);
        for (const VariableId variable : all)
            for (const ExprId use : code_.uses(variable))
                if (!isInRounds(use) && !isInBounds(use) && !code_.isWrite(use))
                    return refuse("position-used-elsewhere",
                                  fmt::format("{} on line {} is used outside of the work",
                                              body_.variable(variable).name, lineOf(use)));
        return {};
    }

    /// A round begins with the values that the first one began with.
    Gated<void> requireNothingCarried() const {
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            if (variable.storage != Storage::Local && variable.storage != Storage::Parameter)
                continue;
            const StmtId declared = code_.declarationOf(id);
            const auto declares = [&](StmtId stmt) {
                return declared != noId && code_.encloses(stmt, declared);
            };
            if (std::ranges::any_of(found_.work, declares) ||
                std::ranges::any_of(found_.moved, declares))
                continue;
            std::optional<ExprId> first;
            bool isWritten = false;
            for (const ExprId use : code_.uses(id))
                if (isInRounds(use)) {
                    first = first ? first : use;
                    isWritten = isWritten || code_.isWrite(use);
                }
            if (isWritten && !isSetAtFirst(*first))
                return refuse("carried-value",
                              fmt::format("{} keeps a value from one point to the next (line {})",
                                          variable.name, lineOf(*first)));
        }
        return {};
    }

    /// `x = value;`, whatever happens in the round, and the value is not that of x.
    [[nodiscard]] bool isSetAtFirst(ExprId use) const {
        const StmtId stmt = code_.statement(use);
        const bool isPlain = std::ranges::find(found_.work, stmt) != found_.work.end() ||
                             std::ranges::find(found_.moved, stmt) != found_.moved.end();
        ExprId assignment = stmt == noId ? noId : body_.stmt(stmt).expr;
        if (!isPlain || assignment == noId || body_.stmt(stmt).kind != StmtKind::Expression)
            return false;
        // Of `a = b = value` either is set.
        while (body_.expr(assignment).kind == ExprKind::Binary &&
               body_.expr(assignment).op == "=") {
            const auto& sides = body_.expr(assignment).children;
            if (sides[0] == use)
                return std::ranges::none_of(code_.expressionsBelow(sides[1]), [&](ExprId id) {
                    return body_.expr(id).kind == ExprKind::Variable &&
                           body_.expr(id).variable == body_.expr(use).variable;
                });
            assignment = sides[1];
        }
        return false;
    }

    Gated<void> requireEditableWork() const {
        for (const std::vector<StmtId>* part : {&found_.moved, &found_.work})
            for (const StmtId stmt : *part) {
                if (!hasOwnLines(body_, layout_, stmt, stmt) &&
                    (part == &found_.moved || stmt == found_.work.front() ||
                     stmt == found_.work.back()))
                    return refuse("several-statements-a-line",
                                  fmt::format("line {} holds more than one statement",
                                              lineOfStatement(stmt)));
                for (const StmtId inner : code_.statementsIn(stmt)) {
                    const StmtKind kind = body_.stmt(inner).kind;
                    if (kind == StmtKind::Return || kind == StmtKind::Goto || kind == StmtKind::Asm)
                        return refuse("early-exit",
                                      fmt::format("line {} leaves the work of one point early",
                                                  lineOfStatement(inner)));
                    if (body_.stmt(inner).fromMacro && kind != StmtKind::Expression)
                        return refuse("from-macro", fmt::format("line {} comes out of a macro",
                                                                lineOfStatement(inner)));
                }
            }
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    StmtId indexStatement_ = noId;
    std::set<VariableId> dependent_; ///< Locals before the work that follow from the position.
    MarchedWork found_;
};

} // namespace

Gated<MarchedWork> marchedWork(const SkillContext& context, std::uint8_t axis) {
    return MarchedWorkFinder(context, axis).find();
}

} // namespace kernelskill::skills
