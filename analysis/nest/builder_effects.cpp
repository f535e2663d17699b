#include "analysis/model/dependence.h"
#include "analysis/nest/builder.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

/// Whether the symbols tell the variable's value, so that no access stands for it.
bool NestBuilder::isFollowed(const Type& type) const {
    return isNestInteger(type) || isNestPointer(type);
}

void NestBuilder::visit(ExprId id, Use use) {
    if (id == noId || ++steps_ > 200'000)
        return;
    const Expr& expression = expr(id);
    if (isAssignment(expression) || isIncrement(expression)) {
        visitAssignment(id);
        return;
    }
    switch (expression.kind) {
    case ExprKind::Call:
        visitCall(id);
        return;
    case ExprKind::Conditional:
        visitConditional(id);
        return;
    case ExprKind::Binary:
        if (expression.op == "&&" || expression.op == "||") {
            visit(expression.children[0]);
            const NestCondition first = condition(expression.children[0]);
            within_.push_back(expression.op == "&&" ? first : negation(first));
            visit(expression.children[1]);
            within_.pop_back();
            return;
        }
        break;
    case ExprKind::Variable:
    case ExprKind::Member:
    case ExprKind::Subscript:
        visitPlace(id, use);
        return;
    case ExprKind::Unary:
        if (expression.op == "*") {
            visitPlace(id, use);
            return;
        }
        if (expression.op == "&") {
            visitPointerParts(expression.children.front());
            return;
        }
        break;
    case ExprKind::Cast:
        visit(expression.children.front(), use);
        return;
    case ExprKind::Other:
        if (isOpaque(expression)) {
            if (expression.name != "this")
                opaque(expression.name == "lambda" ? "a lambda"
                       : expression.name.empty()   ? "code that is not followed"
                                                   : expression.name);
            for (const ExprId child : expression.children)
                visit(child, Use::Read);
            return;
        }
        break;
    default:
        break;
    }
    for (const ExprId child : expression.children)
        visit(child);
}

/// An lvalue that is read or written; the expressions that its address is made of are read.
void NestBuilder::visitPlace(ExprId id, Use use) {
    visitPointerParts(id);
    const Expr& expression = expr(id);
    if (expression.kind == ExprKind::Variable && expression.variable == noId)
        return;
    const NestPlace where = place(id);
    Type type = expression.type;
    if (!type.arrayExtents.empty())
        return; // An array as such is not read.
    const AccessKind kind = use == Use::Read    ? AccessKind::Read
                            : use == Use::Write ? AccessKind::Write
                                                : AccessKind::ReadWrite;
    if (where.variable) {
        const NestVariableKey& key = *where.variable;
        const Variable& root = frames_[key.frame].function->body.variable(key.variable);
        const bool isGiven = root.storage == Storage::Parameter && key.frame == 0;
        if (isFollowed(type) || (isGiven && use == Use::Read) ||
            root.storage == Storage::HostGlobal)
            return;
    }
    access(where, kind, id, type);
}

/// Visits what an address is made of, without the place itself.
void NestBuilder::visitPointerParts(ExprId id) {
    const Expr& expression = expr(id);
    switch (expression.kind) {
    case ExprKind::Variable:
        return;
    case ExprKind::Subscript: {
        const Expr& base = expr(expression.children[0]);
        if (base.type.arrayExtents.empty())
            visit(expression.children[0]);
        else
            visitPointerParts(expression.children[0]);
        visit(expression.children[1]);
        return;
    }
    case ExprKind::Member:
        if (expression.children.empty())
            return;
        if (expression.isArrow)
            visit(expression.children.front());
        else
            visitPointerParts(expression.children.front());
        return;
    case ExprKind::Unary:
        if (expression.op == "*") {
            visit(expression.children.front());
            return;
        }
        if (expression.op == "&") {
            visitPointerParts(expression.children.front());
            return;
        }
        visit(id);
        return;
    case ExprKind::Cast:
        visitPointerParts(expression.children.front());
        return;
    default:
        visit(id);
    }
}

void NestBuilder::visitConditional(ExprId id) {
    const Expr& expression = expr(id);
    visit(expression.children[0]);
    const NestCondition chosen = condition(expression.children[0]);
    within_.push_back(chosen);
    visit(expression.children[1]);
    within_.back() = negation(chosen);
    visit(expression.children[2]);
    within_.pop_back();
}

void NestBuilder::visitAssignment(ExprId id) {
    const Expr& expression = expr(id);
    const ExprId target = expression.children.front();
    const ExprId value = expression.children.size() > 1 ? expression.children[1] : noId;
    const bool plain = expression.op == "=";
    visit(value);
    const Type type = expr(target).type;
    if (!isFollowed(type)) {
        visit(target, plain ? Use::Write : Use::ReadWrite);
        return;
    }
    visitPointerParts(target);
    const NestPlace where = place(target);
    const AccessKind kind = plain ? AccessKind::Write : AccessKind::ReadWrite;
    if (!where.variable) {
        access(where, kind, target, type);
        return;
    }
    NestFollowed next;
    if (isNestInteger(type)) {
        const auto old = plain ? std::nullopt : integer(target);
        auto by = value == noId ? std::optional(IndexExpression::constant(1)) : integer(value);
        if (plain) {
            next.integer = std::move(by);
        } else if (old && by) {
            const std::string op = isIncrement(expression)
                                       ? (expression.op.ends_with("++") ? "+" : "-")
                                       : expression.op.substr(0, expression.op.size() - 1);
            if (op == "+")
                next.integer = IndexExpression::sum(*old, *by);
            else if (op == "-")
                next.integer = IndexExpression::difference(*old, *by);
            else if (op == "*")
                next.integer = nest_.symbols.product(*old, *by);
            else
                next.integer = nest_.symbols.result(op, *old, *by);
        }
        if (!next.integer)
            next.integer = freshValue(text(target), type);
        // A value that a loop carries on is work, unlike an index.
        const bool isCarried = std::ranges::any_of(
            carried_, [&](Symbol symbol) { return next.integer->dependsOn(symbol); });
        if (isCarried)
            access(where, kind, target, type);
    } else {
        NestAddress address;
        if (plain) {
            next = followed(value, type);
        } else {
            address = pointer(target);
            const auto by =
                value == noId ? std::optional(IndexExpression::constant(1)) : integer(value);
            const bool back = expression.op.starts_with('-') || expression.op == "p--";
            if (by) {
                address =
                    moved(std::move(address), back ? IndexExpression::constant(-1) * *by : *by);
            } else {
                address.offset.reset();
                address.reason = "a pointer moved by what is not followed";
            }
            next.address = std::move(address);
        }
    }
    // An assignment under a condition within an expression may not take place.
    if (std::ranges::any_of(within_, [](const NestCondition& c) { return !c.isAlways(); }))
        forget(*where.variable);
    else
        set(*where.variable, std::move(next));
}

void NestBuilder::access(const NestPlace& place, AccessKind kind, ExprId expression,
                         const Type& type) {
    if (pending_.empty())
        return;
    if (!place.variable && !place.address.choices.empty()) { // One of these is accessed.
        for (const NestChoice& choice : place.address.choices) {
            within_.push_back(choice.when);
            NestPlace one;
            one.address = choice.address;
            this->access(one, kind, expression, type);
            within_.pop_back();
        }
        return;
    }
    NestAccess access;
    access.kind = kind;
    access.frame = frame_;
    access.expression = expression;
    access.width = sizeOf(type);
    for (const NestCondition& condition : within_)
        access.condition = both(access.condition, condition);
    if (place.variable) {
        NestVariableKey key = *place.variable;
        access.field = key.path;
        key.path.clear();
        const Variable& root = frames_[key.frame].function->body.variable(key.variable);
        access.array = arrayOf(key, root.type);
        access.index = IndexExpression{};
        access.unit = nest_.arrays[access.array].elementSize;
    } else {
        const NestAddress& address = place.address;
        access.array = address.array;
        access.field = address.field;
        access.unit = address.unit;
        if (address.array == noId || !address.offset) {
            access.form = NestAccessForm::Opaque;
            access.reason =
                address.reason.empty() ? "an address that is not followed" : address.reason;
        } else {
            access.index = address.offset;
            const NestArray& array = nest_.arrays[address.array];
            if (!array.extents.empty() && address.written.size() == array.extents.size())
                for (std::size_t i = 0; i < array.extents.size(); ++i)
                    access.subscripts.push_back(
                        {address.written[i],
                         array.extents[i] > 0
                             ? std::optional(IndexExpression::constant(array.extents[i]))
                             : std::nullopt});
            access.subscripts.insert(access.subscripts.end(), address.inner.begin(),
                                     address.inner.end());
        }
    }
    auto& content = std::get<NestStatement>(pending_.back().content);
    content.accesses.push_back(static_cast<NestAccessId>(nest_.accesses.size()));
    nest_.accesses.push_back(std::move(access));
}

} // namespace kernelskill::analysis
