#include "skills/invariant-hoisting/pure_values.h"

#include "analysis/model/known_functions.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isOneFloating(const Type& type) {
    return type.pointerDepth == 0 && type.lanes == 1 &&
           (type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double);
}

bool addsUp(const Expr& expr) {
    return expr.kind == ExprKind::Binary &&
           (expr.op == "+" || expr.op == "-" || expr.op == "+=" || expr.op == "-=");
}

} // namespace

PureValues::PureValues(const SkillContext& context, MayName mayName)
    : context_(context), code_(context.code()), body_(code_.body()), mayName_(std::move(mayName)) {}

bool PureValues::isPure(ExprId id) const {
    const Expr& expr = body_.expr(id);
    if (isConstantMemory(expr))
        return isPure(expr.children[1]);
    return isPureHere(expr) &&
           std::ranges::all_of(expr.children, [&](ExprId child) { return isPure(child); });
}

bool PureValues::isPureHere(const Expr& expr) const {
    if (expr.type.isVolatile || expr.isOutput)
        return false;
    switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Floating:
    case ExprKind::Cast:
    case ExprKind::Conditional:
        return true;
    case ExprKind::BuiltinIndex:
        return mayName_(expr);
    case ExprKind::Unary:
        return expr.op == "-" || expr.op == "+" || expr.op == "!" || expr.op == "~";
    case ExprKind::Binary: {
        const bool divides = (expr.op == "/" || expr.op == "%") && !isOneFloating(expr.type);
        return !isAssignment(expr.op) && expr.op != "," &&
               (!divides || code_.constantValue(expr.children[1]).value_or(0) != 0);
    }
    case ExprKind::Call:
        return !expr.isMethod && mathFunction(expr.name) != MathKind::None &&
               expr.type.scalar != ScalarKind::Void &&
               std::ranges::none_of(context_.file.deviceFunctions, [&](const KernelModel& own) {
                   return own.name == unqualified(expr.name);
               });
    case ExprKind::Member:
        return !expr.isArrow && expr.type.pointerDepth == 0 && expr.type.arrayExtents.empty();
    case ExprKind::Variable: {
        if (expr.variable == noId)
            return std::ranges::any_of(
                context_.kernel.templateParameters,
                [&](const TemplateParameter& parameter) { return parameter.name == expr.name; });
        const Variable& variable = body_.variable(expr.variable);
        if (variable.type.pointerDepth != 0 || !variable.type.arrayExtents.empty() ||
            variable.type.isVolatile || variable.type.isReference)
            return false;
        if (variable.storage == Storage::Local || variable.storage == Storage::Parameter)
            return mayName_(expr);
        return variable.storage == Storage::Constant || variable.constantValue.has_value() ||
               (variable.storage == Storage::HostGlobal && variable.type.isConst);
    }
    default:
        return false;
    }
}

bool PureValues::isConstantMemory(const Expr& subscript) const {
    if (subscript.kind != ExprKind::Subscript || subscript.children.size() != 2)
        return false;
    const Expr& base = body_.expr(subscript.children[0]);
    return base.kind == ExprKind::Variable && base.variable != noId &&
           body_.variable(base.variable).storage == Storage::Constant;
}

ExprId PureValues::largestAround(ExprId call) const {
    ExprId root = call;
    for (ExprId above = code_.parent(root);
         above != noId && isOneFloating(body_.expr(above).type) && isPure(above) &&
         isSpelled(above);
         above = code_.parent(root))
        root = above;
    const auto below = [&](ExprId id) {
        const std::vector<ExprId>& children = body_.expr(id).children;
        return *std::ranges::find_if(children, [&](ExprId child) {
            const std::vector<ExprId> all = code_.expressionsBelow(child);
            return std::ranges::find(all, call) != all.end();
        });
    };
    const auto isNegation = [&](ExprId id) {
        const Expr& expr = body_.expr(id);
        return expr.kind == ExprKind::Unary && expr.op == "-";
    };
    ExprId product = root;
    while (product != call && isNegation(product))
        product = below(product);
    ExprId user = code_.parent(root);
    while (user != noId && isNegation(user))
        user = code_.parent(user);
    if (body_.expr(product).kind != ExprKind::Binary || body_.expr(product).op != "*" ||
        user == noId || !addsUp(body_.expr(user)))
        return root;
    return below(product);
}

bool PureValues::isSpelled(ExprId id) const {
    const Expr& expr = body_.expr(id);
    if (!expr.fromMacro)
        return expr.span.begin < expr.span.end;
    const ExprId above = code_.parent(id);
    if (above != noId && body_.expr(above).span == expr.span)
        return false; // A macro stands for more.
    const std::vector<ExprId>& children = expr.children;
    const auto spanOf = [&](std::size_t child) { return body_.expr(children[child]).span; };
    const std::string_view text = context_.file.source->slice(expr.span);
    if (expr.kind == ExprKind::Call && (!text.starts_with(expr.name) || !text.ends_with(')')))
        return false;
    const bool isOneUse = std::ranges::all_of(
        children, [&](ExprId child) { return body_.expr(child).span == expr.span; });
    if (children.empty() || isOneUse) { // A macro stands for it, and for nothing that is evaluated.
        const std::vector<ExprId> all = code_.expressionsBelow(id);
        return std::ranges::none_of(
            all, [&](ExprId below) { return body_.expr(below).kind == ExprKind::Call; });
    }
    for (std::size_t child = 0; child < children.size(); ++child)
        if (!expr.span.contains(spanOf(child)) || !isSpelled(children[child]) ||
            (child > 0 && spanOf(child - 1).end > spanOf(child).begin))
            return false;
    return std::ranges::count(text, '(') == std::ranges::count(text, ')');
}

bool isSharedOut(const CodeMap& code, VariableId variable) {
    const FunctionBody& body = code.body();
    return std::ranges::any_of(code.uses(variable), [&](ExprId use) {
        if (!code.isWrite(use))
            return false;
        ExprId above = code.parent(use);
        while (above != noId && body.expr(above).kind == ExprKind::Member)
            above = code.parent(above);
        if (above == noId)
            return true;
        const Expr& expr = body.expr(above);
        return !(expr.kind == ExprKind::Binary && isAssignment(expr.op)) &&
               !(expr.kind == ExprKind::Unary && expr.op != "&");
    });
}

} // namespace kernelskill::skills
