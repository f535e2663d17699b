#include "skills/vectorized-access/element_steps.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The step of a sum.
Step added(Step left, Step right) {
    if (left == Step::None)
        return right;
    return right == Step::None ? left : Step::Other;
}

/// The step of a value that is converted to the type: one of fewer bits may wrap around.
Step keptBy(const Type& type, Step step) {
    return step == Step::One && type.pointerDepth == 0 && !isIndexType(type) ? Step::Other : step;
}

bool isAddress(const Type& type) {
    return type.pointerDepth > 0 || !type.arrayExtents.empty();
}

} // namespace

ElementSteps::ElementSteps(const SkillContext& context, VariableId index)
    : context_(context), code_(context.code()), body_(code_.body()),
      settled_(body_.variables.size()), steps_(body_.variables.size(), Step::Other),
      isIndex_(body_.variables.size()), followsIndex_(body_.variables.size()) {
    isIndex_[index] = true;
    followsIndex_[index] = true;
    steps_[index] = Step::One;
    for (VariableId id = 0; id < body_.variables.size(); ++id)
        if (id != index)
            settled_[id] = settledLocal(id);
    // An initialisation names variables before its own, a statement behind it those between, too.
    for (int sweep = 0; sweep < 2; ++sweep)
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            if (id != index)
                readVariable(id);
}

SettledLocal ElementSteps::settledLocal(VariableId id) const {
    const Variable& variable = body_.variable(id);
    const StmtId declaration = code_.declarationOf(id);
    if (variable.storage != Storage::Local || declaration == noId || !code_.isEverWritten(id))
        return {};
    const auto& uses = code_.uses(id);
    const ExprId first = uses.front();
    const StmtId statement = code_.statement(first);
    const Stmt& stmt = body_.stmt(statement);
    const ExprId above = code_.parent(first);
    if (stmt.kind != StmtKind::Expression || stmt.parent != body_.stmt(declaration).parent ||
        above != stmt.expr || body_.expr(above).kind != ExprKind::Binary ||
        body_.expr(above).children[0] != first ||
        std::ranges::count_if(uses, [&](ExprId use) {
            return code_.isWrite(use) || (use != first && code_.statement(use) == statement);
        }) != 1)
        return {};
    const Expr& set = body_.expr(above);
    if (set.op != "=" && (set.op != "+=" || variable.init == noId))
        return {};
    return {statement, set.children[1], set.op == "+="};
}

void ElementSteps::readVariable(VariableId id) {
    const Variable& variable = body_.variable(id);
    const ExprId init = variable.storage == Storage::Local ? variable.init : noId;
    const VariableId other = init == noId ? noId : code_.namedVariable(init);
    isIndex_[id] = other != noId && isIndex_[other] && !code_.isEverWritten(id) &&
                   !variable.type.isReference && isIndexType(variable.type);
    for (const ExprId definition : definitionsOf(id))
        for (const ExprId part : code_.expressionsBelow(definition)) {
            const Expr& expr = body_.expr(part);
            if (expr.kind == ExprKind::Variable && expr.variable != noId &&
                followsIndex_[expr.variable])
                followsIndex_[id] = true;
        }
    steps_[id] = stepOf(id);
}

std::vector<ExprId> ElementSteps::definitionsOf(VariableId id) const {
    const Variable& variable = body_.variable(id);
    std::vector<ExprId> definitions;
    if (variable.storage == Storage::Local && variable.init != noId &&
        (settled_[id].statement == noId || settled_[id].isAdded))
        definitions.push_back(variable.init);
    if (settled_[id].statement != noId)
        definitions.push_back(settled_[id].value);
    return definitions;
}

std::vector<VariableId> ElementSteps::namedBy(StmtId statement) const {
    std::vector<VariableId> names = body_.stmt(statement).declared;
    for (VariableId id = 0; id < settled_.size(); ++id)
        if (settled_[id].statement == statement)
            names.push_back(id);
    return names;
}

Step ElementSteps::of(ExprId id) const {
    const Expr& expr = body_.expr(id);
    if (expr.type.isVolatile)
        return Step::Other;
    switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Floating:
        return Step::None;
    case ExprKind::Variable:
        return expr.variable == noId ? Step::Other : steps_[expr.variable];
    case ExprKind::BuiltinIndex:
        return expr.axis != 0 || expr.name == "blockDim" || expr.name == "gridDim" ? Step::None
                                                                                   : Step::Other;
    case ExprKind::Unary:
        if (expr.op == "&")
            return ofAddress(code_.withoutCasts(expr.children[0]));
        return (expr.op == "*" || isPlainOperation(expr)) && areFixed(expr) ? Step::None
                                                                            : Step::Other;
    case ExprKind::Binary:
        return ofOperation(expr);
    case ExprKind::Cast:
        return expr.type.pointerDepth > 0 && of(expr.children[0]) == Step::One
                   ? Step::Other // The elements may be of another size.
                   : keptBy(expr.type, of(expr.children[0]));
    case ExprKind::Call:
        return isKnownCall(context_.file, context_.kernel, expr) && areFixed(expr) ? Step::None
                                                                                   : Step::Other;
    case ExprKind::Member:
    case ExprKind::Subscript:
    case ExprKind::Conditional:
        return areFixed(expr) ? Step::None : Step::Other;
    default:
        return Step::Other;
    }
}

Step ElementSteps::ofAddress(ExprId place) const {
    const Expr& expr = body_.expr(place);
    // An operator of a class may reach any place.
    if (expr.children.empty() || !isAddress(body_.expr(expr.children[0]).type))
        return Step::Other;
    if (expr.kind == ExprKind::Subscript && expr.children.size() == 2)
        return added(of(expr.children[0]), of(expr.children[1]));
    return expr.kind == ExprKind::Unary && expr.op == "*" ? of(expr.children[0]) : Step::Other;
}

bool ElementSteps::isForAll(ExprId root) const {
    return of(root) == Step::None &&
           std::ranges::none_of(code_.expressionsBelow(root), [&](ExprId id) {
               const Expr& expr = body_.expr(id);
               return expr.kind == ExprKind::Variable && expr.variable != noId &&
                      followsIndex_[expr.variable];
           });
}

void ElementSteps::addRowLengths(ExprId root, std::vector<ExprId>& lengths) const {
    for (const ExprId id : code_.expressionsBelow(root)) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Variable && expr.variable != noId &&
            followsIndex_[expr.variable] && !isIndex_[expr.variable])
            for (const ExprId definition : definitionsOf(expr.variable))
                addRowLengths(definition, lengths);
        if (expr.kind == ExprKind::Binary && isQuotientOfIndex(expr) &&
            std::ranges::none_of(lengths, [&](ExprId other) {
                return code_.sameExpression(other, expr.children[1]);
            }))
            lengths.push_back(expr.children[1]);
    }
}

Step ElementSteps::stepOf(VariableId id) const {
    const Variable& variable = body_.variable(id);
    if (variable.constantValue)
        return Step::None;
    const SettledLocal& settled = settled_[id];
    if (variable.type.isReference || variable.type.isVolatile ||
        (code_.isEverWritten(id) && settled.statement == noId))
        return Step::Other;
    switch (variable.storage) {
    case Storage::Parameter:
    case Storage::Constant:
    case Storage::HostGlobal:
        return Step::None;
    case Storage::Local: {
        const std::vector<ExprId> definitions = definitionsOf(id);
        if (definitions.empty() || !variable.type.arrayExtents.empty())
            return Step::Other;
        Step step = Step::None;
        for (const ExprId definition : definitions)
            step = added(step, of(definition));
        return keptBy(variable.type, step);
    }
    default:
        return Step::Other;
    }
}

Step ElementSteps::ofOperation(const Expr& expr) const {
    const Step left = of(expr.children[0]);
    const Step right = of(expr.children[1]);
    if (expr.op == "+")
        return keptBy(expr.type, added(left, right));
    if (expr.op == "-")
        return right == Step::None ? keptBy(expr.type, left) : Step::Other;
    if (left == Step::None && right == Step::None)
        return isAssignment(expr.op) ? Step::Other : Step::None;
    if (isQuotientOfIndex(expr))
        return expr.op == "/" ? Step::None : Step::One;
    return Step::Other;
}

bool ElementSteps::areFixed(const Expr& expr) const {
    return std::ranges::all_of(expr.children,
                               [&](ExprId child) { return of(child) == Step::None; });
}

/// Whether it is the quotient or remainder of the index by what is the same for all elements.
bool ElementSteps::isQuotientOfIndex(const Expr& expr) const {
    if (expr.op != "/" && expr.op != "%")
        return false;
    const VariableId divided = code_.namedVariable(expr.children[0]);
    return divided != noId && isIndex_[divided] && isIndexType(expr.type) &&
           of(expr.children[1]) == Step::None;
}

} // namespace kernelskill::skills
