#include "analysis/queries/code_map.h"
#include "engine/review/host/host_interpreter.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::LaunchSite;
using analysis::noId;
using analysis::Storage;
using analysis::Variable;
using analysis::VariableId;

HostValue HostInterpreter::evaluate(ExprId id) {
    if (isStopped() || id == noId)
        return termValue("nothing");
    const Expr& expr = body_.expr(id);
    if (const LaunchSite* launch = launchOf(expr)) {
        addLaunch(*launch, expr);
        return termValue("nothing");
    }
    switch (expr.kind) {
    case ExprKind::Integer:
        return integerValue(expr.integer);
    case ExprKind::Floating:
        return termValue(fmt::format("{:.17g}", expr.floating));
    case ExprKind::String:
        return termValue(expr.name.empty() ? textAt(expr.span) : expr.name);
    case ExprKind::Variable:
        return variable(expr);
    case ExprKind::Member:
        return member(expr);
    case ExprKind::Cast:
        return converted(evaluate(expr.children.front()), expr.type);
    case ExprKind::InitList:
        return construction(expr);
    case ExprKind::Conditional:
        return conditional(expr);
    case ExprKind::Unary:
        return unary(expr);
    case ExprKind::Binary:
        return binary(expr);
    case ExprKind::Subscript:
        return subscript(expr);
    case ExprKind::Call:
        return call(expr);
    default:
        return other(expr);
    }
}

HostValue HostInterpreter::place(ExprId id) {
    const bool before = std::exchange(isNamingPlace_, true);
    HostValue value = evaluate(id);
    isNamingPlace_ = before;
    return value;
}

HostValue HostInterpreter::variable(const Expr& expr) {
    if (expr.name == "nullptr" || expr.name == "NULL")
        return integerValue(0);
    if (expr.variable == noId)
        return unknown(expr.name);
    if (isHandleArray(expr.variable)) {
        fail(expr.span, fmt::format("which stream of {} is meant is not known", expr.name));
        return termValue("nothing");
    }
    const Variable& described = body_.variable(expr.variable);
    if (described.constantValue)
        return integerValue(*described.constantValue);
    if (const auto value = values_.find(expr.variable); value != values_.end()) {
        if (filled_.contains(expr.variable))
            readStep(expr.span, value->second.term, {});
        return value->second;
    }
    const bool isGlobal =
        described.storage != Storage::Local && described.storage != Storage::Parameter;
    if (isGlobal)
        readStep(expr.span, described.name, {});
    return isGlobal ? unknown(described.name) : termValue("object:" + described.name);
}

HostValue HostInterpreter::member(const Expr& expr) {
    // A member of the function's own object may be named without it.
    const bool isOwn = expr.children.empty();
    const bool isArrow = isOwn || expr.isArrow;
    const HostValue object = isOwn ? termValue("this") : evaluate(expr.children.front());
    constexpr std::string_view axes = "xyz";
    const auto axis = expr.name.size() == 1 ? axes.find(expr.name) : std::string_view::npos;
    if (object.extents.size() == axes.size() && axis != std::string_view::npos)
        return object.extents[axis];
    HostValue value = termValue(fmt::format("{}.{}{}", textOf(object), expr.name,
                                            isArrow ? fmt::format("@{}", epoch()) : ""));
    if (isArrow)
        readStep(expr.span, value.term, object.object);
    return value;
}

HostValue HostInterpreter::asExtents(HostValue value) {
    if (value.extents.size() == 3 || (!value.integer && value.term.starts_with("object:")))
        return value;
    HostValue extents = termValue({});
    extents.extents = {std::move(value), integerValue(1), integerValue(1)};
    return extents;
}

HostValue HostInterpreter::construction(const Expr& expr) {
    std::vector<HostValue> parts;
    for (const ExprId child : expr.children)
        parts.push_back(evaluate(child));
    if (isDim3(expr.type) || expr.name == "dim3") {
        if (parts.size() == 1)
            return asExtents(std::move(parts.front()));
        HostValue value = termValue({});
        value.extents = std::move(parts);
        while (value.extents.size() < 3)
            value.extents.push_back(integerValue(1));
        return value;
    }
    if (parts.size() == 1 && expr.name.empty())
        return parts.front();
    std::string text = expr.name + "{";
    for (const HostValue& part : parts)
        text += textOf(part) + ",";
    return termValue(text + "}");
}

HostValue HostInterpreter::conditional(const Expr& expr) {
    const HostValue condition = evaluate(expr.children[0]);
    if (condition.integer) {
        HostValue value = evaluate(expr.children[*condition.integer != 0 ? 1 : 2]);
        value.isAssumed |= condition.isAssumed;
        return value;
    }
    const auto isPlain = [&](ExprId arm) {
        return std::ranges::none_of(code_.expressionsBelow(arm), [&](ExprId below) {
            const Expr& at = body_.expr(below);
            return at.kind == ExprKind::Call || at.kind == ExprKind::Other ||
                   (at.kind == ExprKind::Binary && analysis::isAssignment(at.op)) ||
                   (at.kind == ExprKind::Unary && at.op.size() > 1);
        });
    };
    if (!isPlain(expr.children[1]) || !isPlain(expr.children[2])) {
        const auto holds = decided(condition);
        return holds ? evaluate(expr.children[*holds ? 1 : 2]) : termValue("nothing");
    }
    const HostValue yes = evaluate(expr.children[1]);
    const HostValue no = evaluate(expr.children[2]);
    return termValue(fmt::format("({} ? {} : {})", textOf(condition), textOf(yes), textOf(no)));
}

HostValue HostInterpreter::unary(const Expr& expr) {
    const ExprId operand = expr.children.front();
    if (expr.op == "&")
        return addressOf(operand);
    if (expr.op.ends_with("++") || expr.op.ends_with("--")) {
        const HostValue before = evaluate(operand);
        const HostValue after =
            combined(expr.op.substr(expr.op.size() - 1), before, integerValue(1));
        store(operand, after);
        return expr.op.starts_with('p') ? before : after;
    }
    const HostValue value = evaluate(operand);
    if (expr.op == "-" && value.integer)
        return converted(combined("-", integerValue(0), value), expr.type);
    if (expr.op == "!" && value.integer)
        return combined("==", value, integerValue(0));
    if (expr.op == "*" && value.pointee != noId && values_.contains(value.pointee))
        return values_.at(value.pointee);
    if (expr.op == "*") {
        readStep(expr.span, fmt::format("*{}@{}", textOf(value), epoch()), value.object);
        return termValue(fmt::format("*{}@{}", textOf(value), epoch()));
    }
    return termValue(expr.op + textOf(value));
}

HostValue HostInterpreter::binary(const Expr& expr) {
    if (expr.children.size() != 2)
        return other(expr);
    if (analysis::isAssignment(expr.op)) {
        HostValue value = evaluate(expr.children[1]);
        if (expr.op.size() > 1)
            value = converted(stepped(expr.op.substr(0, expr.op.size() - 1), expr.children[0],
                                      evaluate(expr.children[0]), value),
                              body_.expr(expr.children[0]).type);
        store(expr.children[0], value);
        return value;
    }
    const HostValue left = evaluate(expr.children[0]);
    if (expr.op == "&&" || expr.op == "||") {
        const bool isAnd = expr.op == "&&";
        if (left.integer && (*left.integer == 0) == isAnd)
            return combined("!=", left, integerValue(0));
        HostValue right = evaluate(expr.children[1]);
        if (left.integer) {
            right.isAssumed |= left.isAssumed;
            return right;
        }
        return termValue(fmt::format("({} {} {})", textOf(left), expr.op, textOf(right)));
    }
    const HostValue right = evaluate(expr.children[1]);
    const bool isReversed = left.object.empty() && !right.object.empty() && expr.op == "+";
    HostValue value = combined(expr.op, left, right);
    value.offset = (isReversed ? stepped(expr.op, expr.children[1], right, left)
                               : stepped(expr.op, expr.children[0], left, right))
                       .offset;
    return converted(std::move(value), expr.type);
}

bool HostInterpreter::isLocal(VariableId id) const {
    const Variable& variable = body_.variable(id);
    return !variable.type.isReference &&
           (variable.storage == Storage::Local || variable.storage == Storage::Parameter);
}

void HostInterpreter::store(ExprId target, HostValue value) {
    if (isStopped())
        return;
    value.isAssumed |= isUnderAssumption_;
    const ExprId plain = code_.withoutCasts(target);
    const Expr& expr = body_.expr(plain);
    if (expr.kind == ExprKind::Variable && expr.variable != noId && isLocal(expr.variable)) {
        values_[expr.variable] = converted(std::move(value), expr.type);
        return;
    }
    if (const auto place = handlePlace(expr)) {
        elements_[*place] = std::move(value);
        return;
    }
    if (isStopped())
        return;
    if (expr.kind == ExprKind::Member) {
        const VariableId object = code_.namedVariable(expr.children.front());
        const auto found = values_.find(object);
        const auto axis = std::string_view("xyz").find(expr.name);
        if (object != noId && isLocal(object) && found != values_.end() &&
            found->second.extents.size() == 3 && axis != std::string_view::npos) {
            found->second.extents[axis] = std::move(value);
            return;
        }
    }
    if (expr.kind == ExprKind::Unary && expr.op == "*")
        if (const HostValue pointer = evaluate(expr.children.front()); pointer.pointee != noId) {
            values_[pointer.pointee] = std::move(value);
            return;
        }
    if (value.pointee != noId)
        escaped_.insert(value.pointee);
    hostStep(expr.span, fmt::format("{} = {}", textOf(place(plain)), textOf(value)));
    if (const VariableId root = rootOf(plain);
        root != noId && isLocal(root) && body_.variable(root).type.pointerDepth == 0)
        values_[root] = unknown(body_.variable(root).name);
}

VariableId HostInterpreter::rootOf(ExprId id) const {
    while (id != noId) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Variable)
            return expr.variable;
        if (expr.children.empty())
            return noId;
        id = expr.children.front();
    }
    return noId;
}

} // namespace kernelskill::engine
