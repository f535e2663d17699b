#include "skills/schedule/extreme_fold.h"

#include "skills/schedule/best_comparison.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// A search, with the statements that it is made of.
struct Search {
    ExtremeFold fold;
    ExprId value = noId;
    std::vector<StmtId> statements;
};

class ExtremeReader {
public:
    ExtremeReader(const CodeMap& code, StmtId loop, VariableId iterator)
        : code_(code), body_(code.body()), loop_(loop), iterator_(iterator) {}

    [[nodiscard]] std::optional<ExtremeFold> read(StmtId id) const {
        for (const auto& search : {readBranch(id), readSkipped(id), readChoice(id)})
            if (search && isOfItsOwn(*search))
                return search->fold;
        return std::nullopt;
    }

private:
    /// Whether the loop uses best and place in the search alone, and neither for the value.
    [[nodiscard]] bool isOfItsOwn(const Search& search) const {
        const auto& [fold, value, statements] = search;
        return std::ranges::none_of(code_.expressionsBelow(value),
                                    [&](ExprId part) {
                                        const VariableId named = code_.namedVariable(part);
                                        return named != noId &&
                                               (named == fold.best || named == fold.place);
                                    }) &&
               isUsedInAlone(code_, loop_, statements, fold.best) &&
               (fold.place == noId || isUsedInAlone(code_, loop_, statements, fold.place));
    }

    /// `if (value > best) { ... }`
    [[nodiscard]] std::optional<Search> readBranch(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.condition == noId)
            return std::nullopt;
        auto search = comparing(stmt.condition, {id});
        return search && readBody(code_.statementsOf(stmt.children.front()), *search)
                   ? search
                   : std::nullopt;
    }

    /// `if (!(value > best)) continue;`, and what follows in the round.
    [[nodiscard]] std::optional<Search> readSkipped(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        const auto round = code_.statementsOf(body_.stmt(loop_).children.front());
        const auto at = std::ranges::find(round, id);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.condition == noId ||
            at == round.end())
            return std::nullopt;
        const auto skip = code_.statementsOf(stmt.children.front());
        const Expr& condition = body_.expr(code_.withoutCasts(stmt.condition));
        if (skip.size() != 1 || body_.stmt(skip.front()).kind != StmtKind::Continue ||
            condition.kind != ExprKind::Unary || condition.op != "!")
            return std::nullopt;
        auto search = comparing(condition.children[0], {at, round.end()});
        return search && readBody({std::next(at), round.end()}, *search) ? search : std::nullopt;
    }

    /// `best = value > best ? value : best;`, and perhaps before it the place by the same choice.
    [[nodiscard]] std::optional<Search> readChoice(StmtId id) const {
        const Expr* choice = chosen(id);
        if (choice == nullptr)
            return std::nullopt;
        auto search = comparing(conditionOf(*choice), {id});
        const Stmt& stmt = body_.stmt(id);
        if (!search || !sets(stmt, search->fold.best) ||
            !code_.sameExpression(choice->children[1], search->value) ||
            code_.namedVariable(choice->children[2]) != search->fold.best)
            return std::nullopt;
        const StmtId before = statementBefore(id);
        if (readPlace(before, *search))
            search->statements.push_back(before);
        if (const StmtId known = declarationOfCondition(*choice); known != noId) {
            // Best is as it was there, and nothing else is told how the search goes on.
            const VariableId condition = code_.namedVariable(choice->children[0]);
            const bool isAlone = std::ranges::all_of(code_.uses(condition), [&](ExprId use) {
                const auto& statements = search->statements;
                return std::ranges::find(statements, code_.statement(use)) != statements.end();
            });
            if (statementBefore(search->statements.back()) != known || !isAlone ||
                body_.stmt(known).declared.size() != 1)
                return std::nullopt;
            search->statements.push_back(known);
        }
        return search;
    }

    /// `place = value > best ? i : place;`
    [[nodiscard]] bool readPlace(StmtId id, Search& search) const {
        const Expr* choice = id == noId ? nullptr : chosen(id);
        if (choice == nullptr || code_.namedVariable(choice->children[1]) != iterator_)
            return false;
        const VariableId place = code_.namedVariable(choice->children[2]);
        const auto compared =
            bestComparison(code_, conditionOf(*choice), search.statements.front());
        if (!compared || compared->best != search.fold.best ||
            compared->comparison != search.fold.comparison ||
            !code_.sameExpression(compared->value, search.value) || place == noId ||
            place == search.fold.best || !sets(body_.stmt(id), place))
            return false;
        search.fold.place = place;
        return true;
    }

    /// The search that a condition belongs to, if it compares with a variable that the statements
    /// set.
    [[nodiscard]] std::optional<Search> comparing(ExprId condition,
                                                  std::vector<StmtId> statements) const {
        for (const StmtId id : statements)
            if (auto compared = bestComparison(code_, condition, id))
                return Search{{compared->best, noId, compared->comparison},
                              compared->value,
                              std::move(statements)};
        return std::nullopt;
    }

    /// The `a > b ? c : d` of `variable = a > b ? c : d;`, or nullptr.
    [[nodiscard]] const Expr* chosen(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::Expression || body_.expr(stmt.expr).kind != ExprKind::Binary ||
            body_.expr(stmt.expr).op != "=")
            return nullptr;
        const Expr& value = body_.expr(code_.withoutCasts(body_.expr(stmt.expr).children[1]));
        return value.kind == ExprKind::Conditional ? &value : nullptr;
    }

    [[nodiscard]] bool sets(const Stmt& assignment, VariableId variable) const {
        return code_.namedVariable(body_.expr(assignment.expr).children[0]) == variable;
    }

    /// The statement that declares the condition of the choice, if it has a name that keeps its
    /// value; noId for another.
    [[nodiscard]] StmtId declarationOfCondition(const Expr& choice) const {
        const VariableId named = code_.namedVariable(choice.children[0]);
        return named == noId || code_.isEverWritten(named) || body_.variable(named).init == noId
                   ? noId
                   : code_.declarationOf(named);
    }

    /// The condition of the choice, by its name or as it is.
    [[nodiscard]] ExprId conditionOf(const Expr& choice) const {
        return declarationOfCondition(choice) == noId
                   ? choice.children[0]
                   : body_.variable(code_.namedVariable(choice.children[0])).init;
    }

    /// The statement right before this one in the same compound; noId if there is none.
    [[nodiscard]] StmtId statementBefore(StmtId id) const {
        const StmtId around = body_.stmt(id).parent;
        if (around == noId || body_.stmt(around).kind != StmtKind::Compound)
            return noId;
        const auto& all = body_.stmt(around).children;
        const auto at = std::ranges::find(all, id);
        return at == all.begin() || at == all.end() ? noId : *std::prev(at);
    }

    /// `best = value;` and perhaps `place = i;`, and nothing else.
    [[nodiscard]] bool readBody(const std::vector<StmtId>& statements, Search& search) const {
        ExtremeFold& fold = search.fold;
        bool setsBest = false;
        for (const StmtId id : statements) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind != StmtKind::Expression)
                return false;
            const Expr& expr = body_.expr(stmt.expr);
            if (expr.kind != ExprKind::Binary || expr.op != "=")
                return false;
            const VariableId target = code_.namedVariable(expr.children[0]);
            if (target == fold.best && code_.sameExpression(expr.children[1], search.value) &&
                !setsBest)
                setsBest = true;
            else if (target != noId && fold.place == noId && target != fold.best &&
                     code_.namedVariable(expr.children[1]) == iterator_)
                fold.place = target;
            else
                return false;
        }
        return setsBest;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    StmtId loop_;
    VariableId iterator_;
};

} // namespace

std::vector<ExtremeFold> extremeFolds(const CodeMap& code, StmtId loop, VariableId iterator) {
    const ExtremeReader reader(code, loop, iterator);
    std::vector<ExtremeFold> found;
    for (const StmtId id : code.statementsIn(loop))
        if (auto fold = reader.read(id))
            found.push_back(*std::move(fold));
    return found;
}

} // namespace kernelskill::skills
