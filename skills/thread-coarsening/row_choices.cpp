#include "skills/thread-coarsening/row_choices.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"
#include "analysis/syntax/comparison.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The max number of conditions beside the kernel's own: more would be unreadable.
constexpr std::size_t maxConditions = 6;

class ChoiceMaker {
public:
    ChoiceMaker(const SkillContext& context, const CodeMap& code, const RowWork& work)
        : context_(context), code_(code), body_(code.body()), work_(work) {
        inner_.body = body_;
    }

    InnerWork make() {
        for (const RowBound& bound : work_.bounds)
            addCondition(bound.onRow ? awayFrom(*bound.onRow, placeOf(bound.onRow->bound))
                                     : RowCondition{testOf(code_, bound)});
        maxConditions_ = inner_.conditions.size() + maxConditions;
        for (const StmtId top : work_.work)
            for (const StmtId id : code_.statementsIn(top))
                chooseBranch(id);
        for (const StmtId top : work_.work)
            for (const ExprId id : code_.expressionsIn(top))
                chooseValue(id);
        return std::move(inner_);
    }

private:
    enum class Place : std::uint8_t { Unsteady, Start, End, Somewhere };

    void chooseBranch(StmtId id) {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::If || stmt.condition == noId || stmt.init != noId ||
            !stmt.declared.empty() || stmt.children.empty() ||
            !isWrittenAs(*context_.file.source, stmt.span, {"if"}))
            return;
        const auto choice = decide(stmt.condition);
        if (!choice)
            return;
        const std::size_t at = *choice ? 0 : 1;
        const StmtId branch = at < stmt.children.size() ? stmt.children[at] : noId;
        inner_.branches[id] = branch;
        Stmt& changed = inner_.body.stmts[id];
        changed.kind = StmtKind::Compound;
        changed.condition = noId;
        changed.children.clear();
        if (branch != noId)
            changed.children.push_back(branch);
    }

    void chooseValue(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (expr.fromMacro)
            return;
        if (expr.kind == ExprKind::Conditional && expr.children.size() == 3) {
            if (const auto choice = decide(expr.children[0]))
                take(id, expr.children[*choice ? 1 : 2]);
        } else if (expr.kind == ExprKind::Call && !expr.isMethod && expr.children.size() == 2 &&
                   (expr.name == "min" || expr.name == "max")) {
            chooseSmaller(id);
        }
    }

    /// `max(row - 1, 0)` is its row where that is not below the bound; `min` likewise.
    void chooseSmaller(ExprId id) {
        const Expr& call = body_.expr(id);
        const bool isMax = call.name == "max";
        for (const std::size_t side : {0U, 1U}) {
            const auto comparison =
                rowComparison(code_, call.children[side],
                              isMax ? ">=" : "<=", call.children[1 - side], work_.row);
            if (!comparison || comparison->rowSide != call.children[side] ||
                placeOf(comparison->bound) != (isMax ? Place::Start : Place::End))
                continue;
            if (addCondition(holdsForAll(*comparison)))
                take(id, call.children[side]);
            return;
        }
    }

    /// The value of a condition for rows away from the edges.
    struct Choice {
        bool holds = false;
        std::vector<RowCondition> away;
    };

    /// Whether the condition holds for most rows; nullopt where it is not decided.
    std::optional<bool> decide(ExprId condition) {
        if (!names(code_, condition, work_.row))
            return std::nullopt;
        auto choice = choiceOf(condition);
        if (!choice || inner_.conditions.size() + choice->away.size() > maxConditions_)
            return std::nullopt;
        for (RowCondition& away : choice->away)
            addCondition(std::move(away));
        return choice->holds;
    }

    [[nodiscard]] std::optional<Choice> choiceOf(ExprId condition) const {
        const Expr& expr = body_.expr(condition);
        if (expr.fromMacro || expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return std::nullopt;
        if (expr.op != "&&" && expr.op != "||")
            return names(code_, condition, work_.row) ? rowChoice(condition) : columnChoice(expr);
        Choice all{expr.op == "&&", {}};
        for (const ExprId part : expr.children) {
            auto choice = choiceOf(part);
            if (!choice || choice->holds != all.holds)
                return std::nullopt;
            std::ranges::move(choice->away, std::back_inserter(all.away));
        }
        return all;
    }

    [[nodiscard]] std::optional<Choice> rowChoice(ExprId condition) const {
        auto comparison = rowComparison(code_, condition, work_.row);
        if (!comparison)
            return std::nullopt;
        const Place place = placeOf(comparison->bound);
        const bool isEquality = comparison->op == "==" || comparison->op == "!=";
        if (place == Place::Unsteady || (place == Place::Somewhere && !isEquality))
            return std::nullopt;
        const bool holds = isEquality ? comparison->op == "!="
                                      : comparison->op.starts_with('>') == (place == Place::Start);
        if (!holds)
            comparison->op = oppositeOperator(comparison->op);
        return Choice{holds, {awayFrom(*comparison, place)}};
    }

    /// The same of a column, which is compared with the first ones by constants and with the last
    /// ones by other bounds.
    [[nodiscard]] std::optional<Choice> columnChoice(const Expr& expr) const {
        const auto isColumn = [&](ExprId side) {
            const auto value = polynomialOf(code_, side);
            return value && isIndexType(body_.expr(side).type) && isSteady(side) &&
                   value->dependsOn({SymbolKind::ThreadIdx, 0});
        };
        const std::string_view other = oppositeOperator(expr.op);
        const bool isLeft = isColumn(expr.children[0]);
        const ExprId bound = expr.children[isLeft ? 1 : 0];
        if (other.empty() || isLeft == isColumn(expr.children[1]) || !isSteady(bound) ||
            !isIndexType(body_.expr(bound).type))
            return std::nullopt;
        const bool isAbove = expr.op.starts_with('>') == isLeft;
        const bool holds = expr.op == "==" || expr.op == "!="
                               ? expr.op == "!="
                               : isAbove == code_.constantValue(bound).has_value();
        return Choice{holds,
                      {{{expr.children[0], holds ? oppositeOperator(other) : other,
                         expr.children[1], TestedRow::First}}}};
    }

    /// Not equal to a bound near an end: on the side where most rows are.
    [[nodiscard]] static RowCondition awayFrom(const RowComparison& comparison, Place place) {
        RowCondition away = holdsForAll(comparison);
        if (away.size() > 1 && place == Place::Start)
            away.erase(away.begin());
        else if (away.size() > 1 && place == Place::End)
            away.pop_back();
        return away;
    }

    /// The place of a bound among the rows.
    [[nodiscard]] Place placeOf(ExprId bound) const {
        constexpr std::int64_t near = 16; // rows
        if (!isSteady(bound))
            return Place::Unsteady;
        const auto value = polynomialOf(code_, bound);
        for (const RowBound& each : work_.bounds) {
            if (!value || !each.onRow || !each.onRow->op.starts_with('<'))
                continue;
            const auto end = polynomialOf(code_, each.onRow->bound);
            const auto distance = end ? (*end - *value).asConstant() : std::nullopt;
            if (distance && *distance <= near && *distance >= -near)
                return Place::End;
        }
        const auto constant = code_.constantValue(bound);
        return constant && *constant <= near ? Place::Start : Place::Somewhere;
    }

    /// One value throughout the kernel, that can be asked for anywhere.
    [[nodiscard]] bool isSteady(ExprId bound) const {
        return std::ranges::all_of(code_.expressionsBelow(bound), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Integer || expr.kind == ExprKind::Cast)
                return true;
            if (expr.kind == ExprKind::Unary)
                return expr.op == "-";
            if (expr.kind == ExprKind::Binary)
                return expr.op == "+" || expr.op == "-" || expr.op == "*";
            if (expr.kind != ExprKind::Variable || expr.variable == noId)
                return false;
            const StmtId declaration = code_.declarationOf(expr.variable);
            return !code_.isEverWritten(expr.variable) &&
                   body_.variable(expr.variable).type.pointerDepth == 0 &&
                   std::ranges::none_of(work_.work, [&](StmtId stmt) {
                       return declaration != noId && code_.encloses(stmt, declaration);
                   });
        });
    }

    bool addCondition(RowCondition condition) {
        const auto isSame = [&](const RowTest& a, const RowTest& b) {
            return a.op == b.op && a.row == b.row && code_.sameExpression(a.left, b.left) &&
                   (a.right == b.right ||
                    (a.right != noId && b.right != noId && code_.sameExpression(a.right, b.right)));
        };
        const bool isKnown = std::ranges::any_of(inner_.conditions, [&](const RowCondition& known) {
            return std::ranges::equal(known, condition, isSame);
        });
        if (isKnown)
            return true;
        if (inner_.conditions.size() >= maxConditions_)
            return false;
        inner_.conditions.push_back(std::move(condition));
        return true;
    }

    void take(ExprId whole, ExprId part) {
        inner_.taken[whole] = part;
        const auto put = [&](ExprId& place) {
            if (place == whole)
                place = part;
        };
        const ExprId parent = code_.parent(whole);
        if (parent != noId) {
            std::ranges::for_each(inner_.body.exprs[parent].children, put);
            return;
        }
        Stmt& stmt = inner_.body.stmts[code_.statement(whole)];
        put(stmt.expr);
        put(stmt.condition);
        put(stmt.increment);
        for (const VariableId local : stmt.declared)
            put(inner_.body.variables[local].init);
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const RowWork& work_;
    std::size_t maxConditions_ = std::numeric_limits<std::size_t>::max();
    InnerWork inner_;
};

} // namespace

InnerWork innerWork(const SkillContext& context, const CodeMap& code, const RowWork& work) {
    return ChoiceMaker(context, code, work).make();
}

} // namespace kernelskill::skills
