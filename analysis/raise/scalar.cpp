#include "analysis/raise/scalar.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

Scalar make(ScalarNode node) {
    return std::make_shared<const ScalarNode>(std::move(node));
}

bool isTruth(const Scalar& value, bool truth) {
    return value->kind == ScalarNode::Kind::Number && value->type == ScalarKind::Bool &&
           (value->integer != 0) == truth;
}

/// The result of operators that a compiler would fold as well; nullopt for any other.
std::optional<double> folded(Function function, const std::vector<Scalar>& arguments) {
    const auto left = numberOf(arguments[0]);
    const auto right = arguments.size() > 1 ? numberOf(arguments[1]) : std::nullopt;
    if (!left || (arguments.size() > 1 && !right))
        return std::nullopt;
    switch (function) {
    case Function::Add:
        return *left + *right;
    case Function::Subtract:
        return *left - *right;
    case Function::Multiply:
        return *left * *right;
    case Function::Negate:
        return -*left;
    case Function::Less:
        return *left < *right;
    case Function::LessOrEqual:
        return *left <= *right;
    case Function::Equal:
        return *left == *right;
    default:
        return std::nullopt;
    }
}

/// x + 0, x * 1 and the like; null if there is nothing to leave out.
Scalar withoutNeutral(Function function, const std::vector<Scalar>& arguments) {
    const auto isNumber = [&](std::size_t at, double value) {
        return numberOf(arguments[at]) == value;
    };
    switch (function) {
    case Function::Multiply:
        return isNumber(1, 1) ? arguments[0] : isNumber(0, 1) ? arguments[1] : nullptr;
    case Function::Divide:
        return isNumber(1, 1) ? arguments[0] : nullptr;
    case Function::Subtract:
        return isNumber(1, 0) ? arguments[0] : nullptr;
    case Function::And:
        if (isTruth(arguments[0], true) || isTruth(arguments[1], false))
            return arguments[1];
        return isTruth(arguments[1], true) || isTruth(arguments[0], false) ? arguments[0] : nullptr;
    default:
        return nullptr;
    }
}

bool isExactIn(ScalarKind type, double value) {
    if (type == ScalarKind::Double || type == ScalarKind::Bool)
        return true;
    if (type == ScalarKind::Float)
        return static_cast<double>(static_cast<float>(value)) == value;
    return !isFloating(type) && std::trunc(value) == value && std::abs(value) < (1LL << 31);
}

} // namespace

std::string_view nameOf(Function function) {
    constexpr std::array<std::string_view, 23> names = {
        "add", "sub",   "mul",  "div",   "neg",  "abs", "exp",    "expm1",
        "log", "log1p", "sqrt", "rsqrt", "tanh", "erf", "pow",    "min",
        "max", "lt",    "le",   "eq",    "and",  "not", "convert"};
    return names.at(static_cast<std::size_t>(function));
}

bool isFloating(ScalarKind type) {
    return type == ScalarKind::Half || type == ScalarKind::BFloat16 || type == ScalarKind::Float ||
           type == ScalarKind::Double;
}

std::string_view spelling(ScalarKind type) {
    switch (type) {
    case ScalarKind::Bool:
        return "bool";
    case ScalarKind::Char:
        return "signed char";
    case ScalarKind::Int16:
        return "short";
    case ScalarKind::Int32:
        return "int";
    case ScalarKind::Int64:
        return "long long";
    case ScalarKind::UInt8:
        return "unsigned char";
    case ScalarKind::UInt16:
        return "unsigned short";
    case ScalarKind::UInt32:
        return "unsigned int";
    case ScalarKind::UInt64:
        return "unsigned long long";
    case ScalarKind::Half:
        return "__half";
    case ScalarKind::BFloat16:
        return "__nv_bfloat16";
    case ScalarKind::Float:
        return "float";
    case ScalarKind::Double:
        return "double";
    default:
        return "void";
    }
}

Scalar number(ScalarKind type, double value) {
    return make({.kind = ScalarNode::Kind::Number,
                 .type = type,
                 .number = value,
                 .integer = std::abs(value) < 9e18 ? static_cast<std::int64_t>(value) : 0});
}

Scalar integerNumber(ScalarKind type, std::int64_t value) {
    return make({.kind = ScalarNode::Kind::Number,
                 .type = type,
                 .number = static_cast<double>(value),
                 .integer = value});
}

Scalar positionValue(ScalarKind type, const Index& index) {
    if (const auto value = index.constant())
        return integerNumber(type, *value);
    return make({.kind = ScalarNode::Kind::Position, .type = type, .index = index});
}

Scalar load(ScalarKind type, BufferId buffer, std::vector<Index> position) {
    return make({.kind = ScalarNode::Kind::Load,
                 .type = type,
                 .buffer = buffer,
                 .position = std::move(position)});
}

Scalar accumulated(ScalarKind type, std::size_t reduction) {
    return make({.kind = ScalarNode::Kind::Accumulated, .type = type, .reduction = reduction});
}

Scalar call(ScalarKind type, Function function, std::vector<Scalar> arguments) {
    if (Scalar rest = arguments.size() == 2 ? withoutNeutral(function, arguments) : nullptr)
        return rest;
    if (const auto value = folded(function, arguments); value && isExactIn(type, *value))
        return number(type, *value);
    return make({.kind = ScalarNode::Kind::Call,
                 .type = type,
                 .function = function,
                 .arguments = std::move(arguments)});
}

Scalar select(const Scalar& condition, const Scalar& then, const Scalar& otherwise) {
    if (condition->kind == ScalarNode::Kind::Number)
        return condition->integer != 0 ? then : otherwise;
    return make({.kind = ScalarNode::Kind::Select,
                 .type = then->type,
                 .arguments = {condition, then, otherwise}});
}

Scalar converted(const Scalar& value, ScalarKind type) {
    if (value->type == type)
        return value;
    if (value->kind == ScalarNode::Kind::Number && isExactIn(type, value->number))
        return isFloating(type) ? number(type, value->number) : integerNumber(type, value->integer);
    return make({.kind = ScalarNode::Kind::Call,
                 .type = type,
                 .function = Function::Convert,
                 .arguments = {value}});
}

Scalar isInside(const Index& index, const Index& bound) {
    constexpr ScalarKind integer = ScalarKind::Int64;
    const Bounds of = index.bounds();
    const Bounds by = bound.bounds();
    const Scalar truth = integerNumber(ScalarKind::Bool, 1);
    const bool isNatural = of.low && *of.low >= 0;
    const bool isBelow = isWithin(index, bound) || (of.high && by.low && *of.high < *by.low);
    const Scalar low = isNatural ? truth
                                 : call(ScalarKind::Bool, Function::LessOrEqual,
                                        {integerNumber(integer, 0), positionValue(integer, index)});
    const Scalar high = isBelow
                            ? truth
                            : call(ScalarKind::Bool, Function::Less,
                                   {positionValue(integer, index), positionValue(integer, bound)});
    return call(ScalarKind::Bool, Function::And, {low, high});
}

std::optional<double> numberOf(const Scalar& value) {
    return value->kind == ScalarNode::Kind::Number ? std::optional(value->number) : std::nullopt;
}

std::string textOf(const Scalar& value) {
    const auto listed = [](const auto& parts, const auto& text) {
        std::string list;
        for (const auto& part : parts)
            list += (list.empty() ? "" : ", ") + text(part);
        return list;
    };
    const auto scalarText = [](const Scalar& part) { return textOf(part); };
    switch (value->kind) {
    case ScalarNode::Kind::Number:
        return isFloating(value->type) ? fmt::format("{}", value->number)
                                       : std::to_string(value->integer);
    case ScalarNode::Kind::Position:
        return fmt::format("at({})", value->index.text());
    case ScalarNode::Kind::Load:
        return fmt::format("b{}[{}]", value->buffer,
                           listed(value->position, [](const Index& at) { return at.text(); }));
    case ScalarNode::Kind::Accumulated:
        return fmt::format("acc{}", value->reduction);
    case ScalarNode::Kind::Call: {
        const std::string name = value->function == Function::Convert
                                     ? std::string(spelling(value->type))
                                     : std::string(nameOf(value->function));
        return fmt::format("{}({})", name, listed(value->arguments, scalarText));
    }
    case ScalarNode::Kind::Select:
        return fmt::format("select({})", listed(value->arguments, scalarText));
    }
    return "";
}

bool mentions(const Scalar& value, std::uint32_t axis) {
    const auto inIndex = [&](const Index& index) { return index.mentions(axis); };
    return inIndex(value->index) || std::ranges::any_of(value->position, inIndex) ||
           std::ranges::any_of(value->arguments,
                               [&](const Scalar& argument) { return mentions(argument, axis); });
}

namespace {

/// `value` with other parts; the node itself where they are the same.
Scalar rebuilt(const Scalar& value, std::vector<Scalar> arguments, std::vector<Index> position,
               const Index& index) {
    switch (value->kind) {
    case ScalarNode::Kind::Position:
        return positionValue(value->type, index);
    case ScalarNode::Kind::Load:
        return load(value->type, value->buffer, std::move(position));
    case ScalarNode::Kind::Call:
        return value->function == Function::Convert
                   ? converted(arguments[0], value->type)
                   : call(value->type, value->function, std::move(arguments));
    case ScalarNode::Kind::Select:
        return select(arguments[0], arguments[1], arguments[2]);
    default:
        return value;
    }
}

} // namespace

namespace {

/// Rebuilds an expression node by node; a part that stands in several places is visited once.
class Rebuild {
public:
    Rebuild(const Replacement& replace, const std::map<std::uint32_t, Index>& axes)
        : replace_(replace), axes_(axes) {}

    Scalar operator()(const Scalar& value) {
        if (const auto known = done_.find(value.get()); known != done_.end())
            return known->second;
        Scalar result = made(value);
        done_.emplace(value.get(), result);
        return result;
    }

private:
    Scalar made(const Scalar& value) {
        const bool isLeaf =
            value->kind == ScalarNode::Kind::Load || value->kind == ScalarNode::Kind::Accumulated;
        if (isLeaf && replace_)
            if (Scalar other = replace_(*value))
                return other;
        std::vector<Scalar> arguments;
        for (const Scalar& argument : value->arguments)
            arguments.push_back((*this)(argument));
        if (axes_.empty())
            return arguments.empty()
                       ? value
                       : rebuilt(value, std::move(arguments), value->position, value->index);
        std::vector<Index> position;
        for (const Index& at : value->position)
            position.push_back(at.substituted(axes_));
        return rebuilt(value, std::move(arguments), std::move(position),
                       value->index.substituted(axes_));
    }

    const Replacement& replace_;
    const std::map<std::uint32_t, Index>& axes_;
    std::unordered_map<const ScalarNode*, Scalar> done_;
};

void visitOnce(const Scalar& value, const std::function<void(const ScalarNode&)>& visit,
               std::unordered_set<const ScalarNode*>& seen) {
    if (!seen.insert(value.get()).second)
        return;
    visit(*value);
    for (const Scalar& argument : value->arguments)
        visitOnce(argument, visit, seen);
}

} // namespace

Scalar substituted(const Scalar& value, const std::map<std::uint32_t, Index>& axes) {
    const Replacement none;
    return Rebuild(none, axes)(value);
}

Scalar replaced(const Scalar& value, const Replacement& replace) {
    const std::map<std::uint32_t, Index> none;
    return Rebuild(replace, none)(value);
}

void forEachNode(const Scalar& value, const std::function<void(const ScalarNode&)>& visit) {
    std::unordered_set<const ScalarNode*> seen;
    visitOnce(value, visit, seen);
}

} // namespace kernelskill::analysis::raise
