#include "analysis/queries/code_map.h"

#include "analysis/model/known_functions.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

/// Which one a template does not tell before it is instantiated.
bool isSwap(const Expr& call) {
    return !call.isMethod && unqualified(call.name) == "swap";
}

} // namespace

bool isAssignment(std::string_view op) {
    constexpr std::array<std::string_view, 11> operators = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    return std::ranges::find(operators, op) != operators.end();
}

CodeMap::CodeMap(const FunctionBody& body)
    : body_(body), parents_(body.exprs.size(), noId), statements_(body.exprs.size(), noId),
      declarations_(body.variables.size(), noId), bound_(body.exprs.size(), false),
      uses_(body.variables.size()), written_(body.variables.size(), false) {
    if (body_.root != noId)
        visitStatement(body_.root);
    for (VariableId variable = 0; variable < uses_.size(); ++variable) {
        std::ranges::stable_sort(uses_[variable], {},
                                 [&](ExprId use) { return body_.expr(use).span.begin; });
        written_[variable] =
            std::ranges::any_of(uses_[variable], [&](ExprId use) { return isWrite(use); });
    }
}

void CodeMap::visitStatement(StmtId id) {
    const Stmt& stmt = body_.stmt(id);
    if (stmt.init != noId)
        visitStatement(stmt.init);
    for (const VariableId variable : stmt.declared) {
        declarations_[variable] = id;
        const Variable& declared = body_.variable(variable);
        if (declared.init == noId)
            continue;
        bound_[declared.init] = declared.type.isReference && !declared.type.isConst;
        visitExpression(declared.init, noId, id);
    }
    for (const ExprId expr : {stmt.expr, stmt.condition, stmt.increment})
        if (expr != noId)
            visitExpression(expr, noId, id);
    for (const StmtId child : stmt.children)
        visitStatement(child);
}

void CodeMap::visitExpression(ExprId id, ExprId parent, StmtId statement) {
    const Expr& expr = body_.expr(id);
    parents_[id] = parent;
    statements_[id] = statement;
    if (expr.kind == ExprKind::Variable && expr.variable != noId)
        uses_[expr.variable].push_back(id);
    for (const ExprId child : expr.children)
        visitExpression(child, id, statement);
}

ExprId CodeMap::parent(ExprId expr) const {
    return parents_.at(expr);
}
StmtId CodeMap::statement(ExprId expr) const {
    return statements_.at(expr);
}
const std::vector<ExprId>& CodeMap::uses(VariableId variable) const {
    return uses_.at(variable);
}

bool CodeMap::isWrite(ExprId use) const {
    const ExprId holder = parent(use);
    if (holder == noId)
        return bound_[use];
    const Expr& above = body_.expr(holder);
    switch (above.kind) {
    case ExprKind::Binary:
        return isAssignment(above.op) && above.children.front() == use;
    case ExprKind::Unary:
        return above.op == "&" || above.op.contains("++") || above.op.contains("--");
    case ExprKind::Call:
        return body_.expr(use).isOutput || isSwap(above) ||
               (above.isMethod && above.children.front() == use);
    case ExprKind::Member: // a member of the variable is part of it
        return isWrite(holder);
    case ExprKind::Conditional: // `(c ? a : b) = 1`
        return above.children.front() != use && isWrite(holder);
    case ExprKind::Other:
        return true;
    default:
        return false;
    }
}

bool CodeMap::isEverWritten(VariableId variable) const {
    return written_.at(variable);
}

bool CodeMap::encloses(StmtId outer, StmtId inner) const {
    for (StmtId at = inner; at != noId; at = body_.stmt(at).parent)
        if (at == outer)
            return true;
    return false;
}

bool CodeMap::holds(StmtId outer, ExprId expr) const {
    return statement(expr) != noId && encloses(outer, statement(expr));
}

std::vector<StmtId> CodeMap::statementsIn(StmtId stmt) const {
    std::vector<StmtId> result{stmt};
    for (std::size_t i = 0; i < result.size(); ++i) {
        const Stmt& at = body_.stmt(result[i]);
        if (at.init != noId)
            result.push_back(at.init);
        result.insert(result.end(), at.children.begin(), at.children.end());
    }
    return result;
}

std::vector<ExprId> CodeMap::expressionsBelow(ExprId expr) const {
    std::vector<ExprId> result{expr};
    for (std::size_t i = 0; i < result.size(); ++i) {
        const Expr& at = body_.expr(result[i]);
        result.insert(result.end(), at.children.begin(), at.children.end());
    }
    return result;
}

std::vector<ExprId> CodeMap::expressionsIn(StmtId stmt) const {
    std::vector<ExprId> result;
    const auto append = [&](ExprId root) {
        if (root == noId)
            return;
        const std::vector<ExprId> below = expressionsBelow(root);
        result.insert(result.end(), below.begin(), below.end());
    };
    for (const StmtId id : statementsIn(stmt)) {
        const Stmt& at = body_.stmt(id);
        for (const VariableId variable : at.declared)
            append(body_.variable(variable).init);
        append(at.expr);
        append(at.condition);
        append(at.increment);
    }
    return result;
}

StmtId CodeMap::declarationOf(VariableId variable) const {
    return declarations_.at(variable);
}

std::vector<StmtId> CodeMap::statementsOf(StmtId compoundOrSingle) const {
    const Stmt& stmt = body_.stmt(compoundOrSingle);
    if (stmt.kind == StmtKind::Compound)
        return stmt.children;
    return {compoundOrSingle};
}

std::optional<std::int64_t> CodeMap::constantValue(ExprId expr) const {
    return FixedValues(*this).value(expr);
}

namespace {

/// In `int n; n = 5;` the value, if nothing uses the variable before and nothing else sets it.
ExprId valueSetOnce(const CodeMap& code, VariableId id) {
    const FunctionBody& body = code.body();
    const std::vector<ExprId>& uses = code.uses(id);
    const StmtId declaration = code.declarationOf(id);
    if (body.variable(id).init != noId || uses.empty() || declaration == noId)
        return noId;
    const ExprId assignment = code.parent(uses.front());
    const StmtId statement = code.statement(uses.front());
    if (assignment == noId || body.expr(assignment).kind != ExprKind::Binary ||
        body.expr(assignment).op != "=" || body.expr(assignment).children[0] != uses.front() ||
        body.stmt(statement).kind != StmtKind::Expression ||
        body.stmt(statement).expr != assignment ||
        body.stmt(statement).parent != body.stmt(declaration).parent ||
        std::any_of(uses.begin() + 1, uses.end(),
                    [&](ExprId use) { return code.isWrite(use) || code.holds(statement, use); }))
        return noId;
    return body.expr(assignment).children[1];
}

} // namespace

ExprId FixedValues::fixedValue(VariableId id) const {
    const Variable& variable = body().variable(id);
    if (variable.storage != Storage::Local || variable.type.scalar >= ScalarKind::Half)
        return noId;
    return code_.isEverWritten(id) ? valueSetOnce(code_, id) : variable.init;
}

namespace {

/// Reads which members of a dim3 the statements behind its declaration set, and to which values.
class MemberReader {
public:
    MemberReader(const CodeMap& code, VariableId variable)
        : code_(code), body_(code.body()), block_(blockAround(variable)) {}

    /// The values that x, y and z are set to; noId for one that is not. nullopt if one may be set
    /// twice, under a condition, or after it was read.
    [[nodiscard]] std::optional<std::array<ExprId, 3>> read(VariableId variable) {
        if (block_ == noId)
            return std::nullopt;
        for (const ExprId use : usesOf(variable))
            if (!take(use))
                return std::nullopt;
        return values_;
    }

private:
    /// Returns the uses in the order of the text. No statement holds those in the configurations of
    /// launches, so all expressions are looked at.
    [[nodiscard]] std::vector<ExprId> usesOf(VariableId variable) const {
        std::vector<ExprId> uses;
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (body_.exprs[id].kind == ExprKind::Variable && body_.exprs[id].variable == variable)
                uses.push_back(id);
        std::ranges::stable_sort(uses, {}, [&](ExprId use) { return body_.expr(use).span.begin; });
        return uses;
    }

    [[nodiscard]] StmtId blockAround(VariableId variable) const {
        const StmtId declaration = code_.declarationOf(variable);
        return declaration == noId ? noId : body_.stmt(declaration).parent;
    }

    [[nodiscard]] bool take(ExprId use) {
        constexpr std::string_view axes = "xyz";
        const ExprId member = code_.parent(use);
        const bool isMember = member != noId && body_.expr(member).kind == ExprKind::Member &&
                              body_.expr(member).name.size() == 1;
        const auto axis = isMember ? axes.find(body_.expr(member).name) : std::string_view::npos;
        if (axis == std::string_view::npos) { // The use is of the whole variable.
            isRead_.fill(true);
            return !code_.isWrite(use);
        }
        if (!code_.isWrite(use)) {
            isRead_.at(axis) = true;
            return true;
        }
        const ExprId assignment = code_.parent(member);
        const StmtId statement = code_.statement(use);
        if (isRead_.at(axis) || values_.at(axis) != noId || assignment == noId ||
            body_.expr(assignment).kind != ExprKind::Binary || body_.expr(assignment).op != "=" ||
            body_.expr(assignment).children[0] != member ||
            body_.stmt(statement).kind != StmtKind::Expression ||
            body_.stmt(statement).expr != assignment || body_.stmt(statement).parent != block_)
            return false;
        values_.at(axis) = body_.expr(assignment).children[1];
        return true;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    StmtId block_;
    std::array<ExprId, 3> values_{noId, noId, noId};
    std::array<bool, 3> isRead_{};
};

} // namespace

KnownExtents FixedValues::extentsByMember(VariableId id, int depth) const {
    const Variable& variable = body().variable(id);
    if (variable.storage != Storage::Local || variable.type.isReference)
        return {};
    const auto values = MemberReader(code_, id).read(id);
    if (!values)
        return {};
    const ExprId init = code_.withoutCasts(variable.init);
    const bool isPlain = init == noId || body().expr(init).children.empty();
    KnownExtents axes = isPlain ? KnownExtents{1, 1, 1} : extents(init, depth);
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        if (const ExprId value = values->at(axis); value != noId)
            axes.at(axis) = extents(value, depth)[0];
    return axes;
}

ExprId CodeMap::withoutCasts(ExprId expr) const {
    while (expr != noId && body_.expr(expr).kind == ExprKind::Cast)
        expr = body_.expr(expr).children.front();
    return expr;
}

VariableId CodeMap::namedVariable(ExprId expr) const {
    const ExprId inner = withoutCasts(expr);
    return inner != noId && body_.expr(inner).kind == ExprKind::Variable
               ? body_.expr(inner).variable
               : noId;
}

bool CodeMap::mayBeSkipped(ExprId operand) const {
    const ExprId around = parent(operand);
    if (around == noId)
        return false;
    const Expr& expr = body_.expr(around);
    const bool chooses = expr.kind == ExprKind::Conditional ||
                         (expr.kind == ExprKind::Binary && (expr.op == "&&" || expr.op == "||"));
    return chooses && expr.children[0] != operand;
}

ExprId CodeMap::firstConjunct(ExprId condition) const {
    while (condition != noId && body_.expr(condition).kind == ExprKind::Binary &&
           body_.expr(condition).op == "&&")
        condition = body_.expr(condition).children[0];
    return condition;
}

bool CodeMap::sameExpression(ExprId a, ExprId b) const {
    const Expr& x = body_.expr(a);
    const Expr& y = body_.expr(b);
    if (x.kind != y.kind || x.op != y.op || x.name != y.name || x.axis != y.axis ||
        x.variable != y.variable || x.integer != y.integer || x.floating != y.floating ||
        x.children.size() != y.children.size() || x.kind == ExprKind::Other)
        return false;
    for (std::size_t i = 0; i < x.children.size(); ++i)
        if (!sameExpression(x.children[i], y.children[i]))
            return false;
    return true;
}

bool isNameFree(const FunctionBody& body, std::string_view name) {
    return std::ranges::none_of(body.variables,
                                [&](const Variable& variable) { return variable.name == name; }) &&
           std::ranges::none_of(body.exprs, [&](const Expr& expr) { return expr.name == name; });
}

std::string freshName(const FunctionBody& body, const std::string& wanted) {
    if (isNameFree(body, wanted))
        return wanted;
    for (int number = 2;; ++number)
        if (std::string candidate = wanted + std::to_string(number); isNameFree(body, candidate))
            return candidate;
}

} // namespace kernelskill::analysis
