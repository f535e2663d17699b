#include "analysis/model/dependence.h"
#include "analysis/model/known_functions.h"
#include "analysis/nest/builder.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

namespace {

constexpr std::size_t maxSteps = 200'000;

SymbolKind builtinSymbol(std::string_view name) {
    if (name == "threadIdx")
        return SymbolKind::ThreadIdx;
    if (name == "blockIdx")
        return SymbolKind::BlockIdx;
    return name == "blockDim" ? SymbolKind::BlockDim : SymbolKind::GridDim;
}

bool isComparison(std::string_view op) {
    return op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
}

} // namespace

const NestFollowed* NestBuilder::known(const NestVariableKey& key) const {
    const auto found = state_.find(key);
    return found == state_.end() ? nullptr : &found->second;
}

void NestBuilder::set(const NestVariableKey& key, NestFollowed value) {
    state_[key] = std::move(value);
}

/// Makes the variable, and what it has fields, unknown from here on.
void NestBuilder::forget(const NestVariableKey& key) {
    const Variable& variable = frames_[key.frame].function->body.variable(key.variable);
    for (auto& [known, value] : state_)
        if (known.frame == key.frame && known.variable == key.variable && known.path != key.path)
            value = {freshValue(variable.name + known.path, {}), std::nullopt};
    if (isNestInteger(variable.type)) {
        set(key, {freshValue(variable.name, variable.type, noId,
                             key.frame == frame_ ? key.variable : noId),
                  std::nullopt});
    } else if (isNestPointer(variable.type)) {
        NestAddress address = frame_ == key.frame ? pointerOf(key, variable.type) : NestAddress{};
        address.choices.clear();
        address.offset.reset();
        if (address.reason.empty())
            address.reason = "a pointer that moves by an amount that is not followed";
        set(key, {std::nullopt, std::move(address)});
    }
}

NestFollowed NestBuilder::followed(ExprId id, const Type& type) {
    if (isNestPointer(type) || !type.arrayExtents.empty() ||
        (type.spelling.starts_with("auto") && isNestPointer(expr(id).type))) {
        NestAddress address = pointer(id);
        const std::uint32_t unit = elementSizeOf(type);
        if (address.extents.empty())
            address = inUnits(std::move(address), unit != 0 ? unit : address.unit);
        return {std::nullopt, std::move(address)};
    }
    if (!isNestInteger(type))
        return {};
    if (std::optional<IndexExpression> value = integer(id))
        return {std::move(value), std::nullopt};
    return {valueOf(id), std::nullopt};
}

std::optional<IndexExpression> NestBuilder::integerOf(VariableId id) {
    const Variable& variable = body().variable(id);
    if (variable.constantValue)
        return IndexExpression::constant(*variable.constantValue);
    NestVariableKey key{frame_, id, ""};
    if (const auto alias = frames_[frame_].aliases.find(id);
        alias != frames_[frame_].aliases.end()) {
        if (!alias->second.variable)
            return std::nullopt;
        key = *alias->second.variable;
    }
    if (const NestFollowed* value = known(key))
        return value->integer;
    if (!isNestInteger(variable.type))
        return std::nullopt;
    const bool given = (variable.storage == Storage::Parameter && key.frame == 0) ||
                       variable.storage == Storage::HostGlobal ||
                       variable.storage == Storage::Constant;
    if (!given || (variable.storage == Storage::Constant && !variable.type.arrayExtents.empty()))
        return std::nullopt;
    const auto [entry, isNew] = parameters_.try_emplace(variable.name + key.path);
    if (isNew) {
        NestSymbol symbol;
        symbol.kind = NestSymbolKind::Parameter;
        symbol.name = variable.name + key.path;
        symbol.isNotNegative =
            variable.type.scalar >= ScalarKind::UInt8 && variable.type.scalar <= ScalarKind::UInt64;
        entry->second = nest_.symbols.add(std::move(symbol));
    }
    return IndexExpression::symbol(entry->second);
}

/// A symbol for the number that the expression has, of which nothing else is known.
IndexExpression NestBuilder::valueOf(ExprId id) {
    const auto [entry, isNew] = values_.try_emplace({frame_, id});
    if (isNew)
        entry->second =
            freshValue("[" + text(id) + "]", expr(id).type, id).terms().begin()->first.front();
    return IndexExpression::symbol(entry->second);
}

std::optional<IndexExpression> NestBuilder::integer(ExprId id) {
    if (id == noId || ++steps_ > maxSteps)
        return std::nullopt;
    const Expr& expression = expr(id);
    switch (expression.kind) {
    case ExprKind::Integer:
        return IndexExpression::constant(expression.integer);
    case ExprKind::BuiltinIndex:
        return IndexExpression::symbol({builtinSymbol(expression.name), expression.axis});
    case ExprKind::Variable:
        if (expression.variable == noId)
            return std::nullopt;
        if (const auto value = integerOf(expression.variable))
            return value;
        return isNestInteger(expression.type) ? std::optional(valueOf(id)) : std::nullopt;
    case ExprKind::Cast: {
        const Type& from = expr(expression.children.front()).type;
        if (!isNestInteger(expression.type))
            return std::nullopt;
        const bool fromReal = from.scalar >= ScalarKind::Half && from.pointerDepth == 0;
        return fromReal ? std::optional(valueOf(id)) : integer(expression.children.front());
    }
    case ExprKind::InitList:
        return expression.children.size() == 1 ? integer(expression.children.front())
                                               : std::nullopt;
    case ExprKind::Unary:
    case ExprKind::Binary:
    case ExprKind::Conditional:
        return operation(expression, id);
    case ExprKind::Call:
        return callResult(expression, id);
    case ExprKind::Member:
    case ExprKind::Subscript: {
        if (!isNestInteger(expression.type) && expression.type.scalar != ScalarKind::Unknown)
            return std::nullopt;
        const NestPlace where = place(id);
        if (where.variable) {
            if (const NestFollowed* value = known(*where.variable); value && value->integer)
                return value->integer;
            const NestVariableKey& key = *where.variable;
            const Variable& root = frames_[key.frame].function->body.variable(key.variable);
            if ((root.storage == Storage::Parameter && key.frame == 0) ||
                root.storage == Storage::Constant) {
                const auto [entry, isNew] = parameters_.try_emplace(root.name + key.path);
                if (isNew) {
                    NestSymbol symbol;
                    symbol.kind = NestSymbolKind::Parameter;
                    symbol.name = root.name + key.path;
                    symbol.isNotNegative = expression.type.scalar >= ScalarKind::UInt8 &&
                                           expression.type.scalar <= ScalarKind::UInt64;
                    entry->second = nest_.symbols.add(std::move(symbol));
                }
                return IndexExpression::symbol(entry->second);
            }
        }
        return valueOf(id);
    }
    default:
        return isNestInteger(expression.type) ? std::optional(valueOf(id)) : std::nullopt;
    }
}

std::optional<IndexExpression> NestBuilder::operation(const Expr& expression, ExprId id) {
    if (!isNestInteger(expression.type) && !expression.type.isDependent)
        return std::nullopt;
    const auto unit = IndexExpression::constant(1);
    if (expression.kind == ExprKind::Unary) {
        const ExprId operand = expression.children.front();
        if (isIncrement(expression)) { // The variable has its new value already.
            const auto value = integer(operand);
            if (!value || !expression.op.starts_with('p'))
                return value;
            return expression.op.ends_with("++") ? *value - unit : *value + unit;
        }
        if (expression.op == "*")
            return valueOf(id);
        const auto value = integer(operand);
        if (value && expression.op == "-")
            return IndexExpression::constant(-1) * *value;
        if (value && expression.op == "~")
            return IndexExpression::constant(-1) - *value;
        return valueOf(id);
    }
    if (expression.kind == ExprKind::Conditional) {
        const NestCondition chosen = condition(expression.children[0]);
        const auto then = integer(expression.children[1]);
        const auto otherwise = integer(expression.children[2]);
        if (!then || !otherwise)
            return valueOf(id);
        if (chosen.isAlways() || chosen.isNever() || *then == *otherwise)
            return chosen.isNever() ? otherwise : then;
        if (chosen.kind == NestCondition::Kind::NotNegative) {
            // a < b ? a : b, and the three other ways to write a minimum or a maximum.
            const IndexExpression distance = *then - *otherwise;
            const IndexExpression excess = chosen.expression;
            const auto near = [&](const IndexExpression& by) {
                const auto difference = (excess - by).asConstant();
                return difference && (*difference == 0 || *difference == -1);
            };
            if (near(distance))
                return nest_.symbols.result("max", *then, *otherwise);
            if (near(IndexExpression::constant(-1) * distance))
                return nest_.symbols.result("min", *then, *otherwise);
        }
        return IndexExpression::symbol(nest_.symbols.selection(chosen, *then, *otherwise));
    }
    if (isAssignment(expression)) {
        const auto value = integer(expression.children[0]);
        return value ? value : valueOf(id);
    }
    const auto left = integer(expression.children[0]);
    const auto right = integer(expression.children[1]);
    if (expression.op == ",")
        return right;
    if (!left || !right || isComparison(expression.op) || expression.op == "&&" ||
        expression.op == "||")
        return valueOf(id);
    std::optional<IndexExpression> result;
    if (expression.op == "+")
        result = IndexExpression::sum(*left, *right);
    else if (expression.op == "-")
        result = nest_.symbols.withRemainders(*left - *right);
    else if (expression.op == "*")
        result = nest_.symbols.product(*left, *right);
    else
        result = nest_.symbols.result(expression.op, *left, *right);
    return result && !result->isTooLarge() ? result : std::optional(valueOf(id));
}

std::optional<IndexExpression> NestBuilder::callResult(const Expr& expression, ExprId id) {
    if (const auto known = results_.find({frame_, id}); known != results_.end())
        return known->second.integer
                   ? known->second.integer
                   : (isNestInteger(expression.type) ? std::optional(valueOf(id)) : std::nullopt);
    const std::string_view name = unqualified(expression.name);
    const auto& arguments = expression.children;
    if (arguments.size() == 2 && isNestInteger(expression.type)) {
        const auto left = integer(arguments[0]);
        const auto right = integer(arguments[1]);
        const bool smaller = name == "min" || name == "umin" || name == "llmin";
        const bool larger = name == "max" || name == "umax" || name == "llmax";
        if (left && right && (smaller || larger))
            return nest_.symbols.result(smaller ? "min" : "max", *left, *right);
        if (left && right && (name == "__mul24" || name == "__umul24"))
            return nest_.symbols.product(*left, *right);
    }
    if (arguments.size() == 3 && (name == "__mad24" || name == "__umad24")) {
        const auto a = integer(arguments[0]);
        const auto b = integer(arguments[1]);
        const auto c = integer(arguments[2]);
        const auto product = a && b ? nest_.symbols.product(*a, *b) : std::nullopt;
        if (product && c)
            return *product + *c;
    }
    if (arguments.size() == 1 && name == "abs")
        if (const auto value = integer(arguments[0]))
            return IndexExpression::symbol(nest_.symbols.derived("abs", {*value}));
    return isNestInteger(expression.type) || expression.type.isDependent
               ? std::optional(valueOf(id))
               : std::nullopt;
}

NestCondition NestBuilder::condition(ExprId id) {
    const Expr& expression = expr(id);
    const auto unknown = [&] {
        const auto [entry, isNew] = unknowns_.try_emplace({frame_, id}, unknownCount_);
        if (isNew)
            ++unknownCount_;
        return NestCondition::unknown(text(id), entry->second);
    };
    if (expression.kind == ExprKind::Cast)
        return condition(expression.children.front());
    if (expression.kind == ExprKind::Unary && expression.op == "!")
        return negation(condition(expression.children.front()));
    if (expression.kind == ExprKind::Binary && expression.children.size() == 2) {
        const ExprId a = expression.children[0];
        const ExprId b = expression.children[1];
        if (expression.op == "&&")
            return both(condition(a), condition(b));
        if (expression.op == "||")
            return either(condition(a), condition(b));
        const bool integral = isNestInteger(expr(a).type) && isNestInteger(expr(b).type);
        if (isComparison(expression.op) && integral) {
            const auto left = integer(a);
            const auto right = integer(b);
            if (!left || !right)
                return unknown();
            const auto one = IndexExpression::constant(1);
            if (expression.op == "<")
                return NestCondition::notNegative(*right - *left - one);
            if (expression.op == "<=")
                return NestCondition::notNegative(*right - *left);
            if (expression.op == ">")
                return NestCondition::notNegative(*left - *right - one);
            if (expression.op == ">=")
                return NestCondition::notNegative(*left - *right);
            const NestCondition equal = NestCondition::zero(*left - *right);
            return expression.op == "==" ? equal : negation(equal);
        }
        if (isComparison(expression.op) && isNestPointer(expr(a).type) &&
            isNestPointer(expr(b).type)) {
            const NestAddress left = pointer(a);
            const NestAddress right = pointer(b);
            if (left.array != noId && left.array == right.array && left.unit == right.unit &&
                left.offset && right.offset && expression.op == "<")
                return NestCondition::notNegative(*right.offset - *left.offset -
                                                  IndexExpression::constant(1));
        }
        return unknown();
    }
    if (expression.kind == ExprKind::Integer)
        return expression.integer != 0 ? NestCondition{} : NestCondition::never();
    if (expression.kind == ExprKind::Variable && expression.variable != noId &&
        isNestInteger(expression.type)) {
        const Variable& variable = body().variable(expression.variable);
        // `bool inside = x < w && y < h;` that nothing changes afterwards.
        if (variable.init != noId && variable.type.scalar == ScalarKind::Bool &&
            variable.storage == Storage::Local) {
            const NestFollowed* value = known({frame_, expression.variable, ""});
            const auto initial = values_.find({frame_, variable.init});
            if (value != nullptr && value->integer && initial != values_.end() &&
                *value->integer == IndexExpression::symbol(initial->second))
                return condition(variable.init);
        }
        if (const auto value = integer(id))
            return negation(NestCondition::zero(*value));
    }
    if (isNestInteger(expression.type))
        if (const auto value = integer(id))
            return negation(NestCondition::zero(*value));
    return unknown();
}

} // namespace kernelskill::analysis
