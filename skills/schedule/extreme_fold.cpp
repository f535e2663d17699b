#include "skills/schedule/extreme_fold.h"

#include "skills/schedule/best_comparison.h"

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class ExtremeReader {
public:
    ExtremeReader(const CodeMap& code, StmtId loop, VariableId iterator)
        : code_(code), body_(code.body()), loop_(loop), iterator_(iterator) {}

    [[nodiscard]] std::optional<ExtremeFold> read(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.condition == noId)
            return std::nullopt;
        const auto compared = bestComparison(code_, stmt.condition, id);
        if (!compared)
            return std::nullopt;
        ExtremeFold fold;
        fold.statement = id;
        fold.best = compared->best;
        fold.comparison = compared->comparison;
        if (!readBody(stmt.children.front(), compared->value, fold) ||
            !isUsedInAlone(code_, loop_, id, fold.best) ||
            (fold.place != noId && !isUsedInAlone(code_, loop_, id, fold.place)))
            return std::nullopt;
        return fold;
    }

private:
    /// `best = value;` and perhaps `place = i;`, and nothing else.
    [[nodiscard]] bool readBody(StmtId body, ExprId value, ExtremeFold& fold) const {
        bool setsBest = false;
        for (const StmtId id : code_.statementsOf(body)) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind != StmtKind::Expression)
                return false;
            const Expr& expr = body_.expr(stmt.expr);
            if (expr.kind != ExprKind::Binary || expr.op != "=")
                return false;
            const VariableId target = code_.namedVariable(expr.children[0]);
            if (target == fold.best && code_.sameExpression(expr.children[1], value) && !setsBest)
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
