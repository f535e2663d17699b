#include "skills/gates/fold_step.h"

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Step {
public:
    Step(const CodeMap& code, const FoldPlaces& places)
        : code_(code), body_(code.body()), places_(places) {}

    [[nodiscard]] std::optional<FoldedArray> fold(const Stmt& stmt) const {
        if (stmt.kind == StmtKind::If)
            return foldByComparison(stmt);
        const bool isExpression = stmt.kind == StmtKind::Expression && stmt.expr != noId;
        return isExpression ? foldByAssignment(body_.expr(stmt.expr)) : std::nullopt;
    }

private:
    /// Returns the shared array of which `expr` is an element at such a place; noId if it is
    /// something else.
    [[nodiscard]] VariableId elementOf(ExprId expr,
                                       const std::function<bool(ExprId)>& isPlace) const {
        const Expr& element = body_.expr(code_.withoutCasts(expr));
        if (element.kind != ExprKind::Subscript)
            return noId;
        const VariableId array = code_.namedVariable(element.children[0]);
        if (array == noId)
            return noId;
        const Storage storage = body_.variable(array).storage;
        const bool isArray = (storage == Storage::Shared || storage == Storage::DynamicShared) &&
                             body_.variable(array).type.arrayExtents.size() == 1;
        return isArray && isPlace(element.children[1]) ? array : noId;
    }
    [[nodiscard]] VariableId ownElement(ExprId expr) const {
        return elementOf(expr, places_.isOwn);
    }
    [[nodiscard]] VariableId otherElement(ExprId expr) const {
        return elementOf(expr, places_.isOther);
    }

    [[nodiscard]] std::optional<FoldedArray> foldByAssignment(const Expr& expr) const {
        if (expr.kind != ExprKind::Binary || !isAssignment(expr.op))
            return std::nullopt;
        FoldedArray fold;
        fold.array = ownElement(expr.children[0]);
        if (fold.array == noId)
            return std::nullopt;
        if (expr.op != "=") {
            const auto found = foldByOperator(expr.op);
            if (!found || otherElement(expr.children[1]) != fold.array)
                return std::nullopt;
            fold.fold = *found;
            return fold;
        }
        const Expr& value = body_.expr(code_.withoutCasts(expr.children[1]));
        if (value.children.size() != 2 || !areOwnAndOther(value.children, fold.array))
            return std::nullopt;
        if (value.kind == ExprKind::Binary) {
            const auto found = foldByOperator(value.op + "=");
            if (!found)
                return std::nullopt;
            fold.fold = *found;
            return fold;
        }
        if (value.kind != ExprKind::Call || value.isMethod)
            return std::nullopt;
        fold.function = value.name;
        if (value.name == "max" || value.name == "fmaxf" || value.name == "fmax")
            fold.fold = FoldKind::Maximum;
        else if (value.name == "min" || value.name == "fminf" || value.name == "fmin")
            fold.fold = FoldKind::Minimum;
        else
            return std::nullopt;
        return fold;
    }

    [[nodiscard]] bool areOwnAndOther(const std::vector<ExprId>& pair, VariableId array) const {
        return (ownElement(pair[0]) == array && otherElement(pair[1]) == array) ||
               (otherElement(pair[0]) == array && ownElement(pair[1]) == array);
    }

    /// Reads `if (a[tid + s] > a[tid]) a[tid] = a[tid + s];`.
    [[nodiscard]] std::optional<FoldedArray> foldByComparison(const Stmt& stmt) const {
        const std::vector<StmtId> then = code_.statementsOf(stmt.children[0]);
        if (stmt.children.size() != 1 || stmt.condition == noId || then.size() != 1 ||
            body_.stmt(then[0]).kind != StmtKind::Expression)
            return std::nullopt;
        const Expr& condition = body_.expr(stmt.condition);
        const Expr& assignment = body_.expr(body_.stmt(then[0]).expr);
        if (condition.kind != ExprKind::Binary || assignment.kind != ExprKind::Binary ||
            assignment.op != "=")
            return std::nullopt;
        FoldedArray fold;
        fold.array = ownElement(assignment.children[0]);
        if (fold.array == noId || otherElement(assignment.children[1]) != fold.array ||
            !areOwnAndOther(condition.children, fold.array))
            return std::nullopt;
        const bool otherFirst = otherElement(condition.children[0]) == fold.array;
        const bool isGreater = condition.op == ">" || condition.op == ">=";
        const bool isLess = condition.op == "<" || condition.op == "<=";
        if (!isGreater && !isLess)
            return std::nullopt;
        fold.fold = isGreater == otherFirst ? FoldKind::Maximum : FoldKind::Minimum;
        return fold;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    const FoldPlaces& places_;
};

} // namespace

std::optional<FoldedArray> foldOf(const CodeMap& code, StmtId stmt, const FoldPlaces& places) {
    return Step(code, places).fold(code.body().stmt(stmt));
}

} // namespace kernelskill::skills
