#include "skills/schedule/extreme_fold.h"

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string mirrored(const std::string& comparison) {
    if (comparison.front() == '<')
        return ">" + comparison.substr(1);
    return "<" + comparison.substr(1);
}

class ExtremeReader {
public:
    ExtremeReader(const CodeMap& code, StmtId loop, VariableId iterator)
        : code_(code), body_(code.body()), loop_(loop), iterator_(iterator) {}

    [[nodiscard]] std::optional<ExtremeFold> read(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.condition == noId)
            return std::nullopt;
        const Expr& condition = body_.expr(code_.withoutCasts(stmt.condition));
        if (condition.kind != ExprKind::Binary || (condition.op != ">" && condition.op != "<" &&
                                                   condition.op != ">=" && condition.op != "<="))
            return std::nullopt;
        ExtremeFold fold;
        fold.statement = id;
        ExprId value = noId;
        for (const int side : {0, 1}) {
            const VariableId named = code_.namedVariable(condition.children[side]);
            if (named == noId || !isSetIn(id, named))
                continue;
            fold.best = named;
            fold.comparison = side == 1 ? condition.op : mirrored(condition.op);
            value = condition.children[1 - side];
        }
        if (fold.best == noId || !readBody(stmt.children.front(), value, fold) ||
            !isUsedHereAlone(id, fold.best) ||
            (fold.place != noId && !isUsedHereAlone(id, fold.place)))
            return std::nullopt;
        return fold;
    }

private:
    [[nodiscard]] bool isSetIn(StmtId statement, VariableId variable) const {
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            return code_.isWrite(use) && code_.holds(statement, use);
        });
    }
    [[nodiscard]] bool isUsedHereAlone(StmtId statement, VariableId variable) const {
        const StmtId declaration = code_.declarationOf(variable);
        if (declaration == noId || code_.encloses(loop_, declaration))
            return false;
        return std::ranges::all_of(code_.uses(variable), [&](ExprId use) {
            return !code_.holds(loop_, use) || code_.holds(statement, use);
        });
    }

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
