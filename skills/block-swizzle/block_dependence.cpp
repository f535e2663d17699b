#include "skills/block-swizzle/block_dependence.h"

#include "analysis/model/dependence.h"
#include "analysis/queries/code_map.h"

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// An element of an array or a pointer's target.
bool isPlace(const Expr& expr) {
    return expr.kind == ExprKind::Subscript || (expr.kind == ExprKind::Unary && expr.op == "*");
}

} // namespace

BlockDependence::BlockDependence(const FunctionBody& body)
    : body_(body), variables_(body.variables.size()) {
    bool isNew = true;
    const auto add = [&](VariableId variable, ExprId value) {
        const BlockAxes joined = variables_[variable] | of(value);
        isNew = isNew || joined != variables_[variable];
        variables_[variable] = joined;
    };
    while (isNew) {
        isNew = false;
        for (VariableId id = 0; id < body.variables.size(); ++id)
            if (body.variables[id].init != noId)
                add(id, body.variables[id].init);
        for (const Expr& expr : body.exprs)
            if (isAssignment(expr) && expr.children.size() == 2)
                if (const VariableId target = rootVariable(body, expr.children[0]); target != noId)
                    add(target, expr.children[1]);
    }
}

BlockAxes BlockDependence::of(ExprId id) const {
    const Expr& expr = body_.expr(id);
    if (expr.kind == ExprKind::BuiltinIndex && expr.name == "blockIdx")
        return {expr.axis == 0, expr.axis == 1, false};
    if (expr.kind == ExprKind::Variable)
        return expr.variable == noId ? BlockAxes{} : variables_[expr.variable];
    if (expr.kind == ExprKind::Unary && expr.op == "&")
        return ofPlace(expr.children.front());
    BlockAxes axes{false, false, isPlace(expr)};
    for (const ExprId child : expr.children)
        axes = axes | of(child);
    return axes;
}

BlockAxes BlockDependence::ofPlace(ExprId lvalue) const {
    const Expr& expr = body_.expr(lvalue);
    if (!isPlace(expr))
        return of(lvalue);
    BlockAxes axes;
    for (const ExprId child : expr.children)
        axes = axes | of(child);
    return axes;
}

} // namespace kernelskill::skills
