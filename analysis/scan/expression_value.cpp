#include "analysis/model/integer_arithmetic.h"
#include "analysis/scan/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kernelskill::analysis {
namespace {

std::optional<Value> integerOperation(const std::string& op, std::int64_t a, std::int64_t b) {
    const auto result = integerResult(op, a, b);
    return result ? std::optional(Value::of(*result)) : std::nullopt;
}

std::optional<Value> comparison(const std::string& op, double a, double b) {
    const auto truth = [](bool value) { return Value::of(std::int64_t{value ? 1 : 0}); };
    if (op == "<")
        return truth(a < b);
    if (op == ">")
        return truth(a > b);
    if (op == "<=")
        return truth(a <= b);
    if (op == ">=")
        return truth(a >= b);
    if (op == "==")
        return truth(a == b);
    if (op == "!=")
        return truth(a != b);
    if (op == "&&")
        return truth(a != 0 && b != 0);
    if (op == "||")
        return truth(a != 0 || b != 0);
    return std::nullopt;
}

std::optional<Value> binaryOperation(const std::string& op, const Value& a, const Value& b) {
    if (auto compared = comparison(op, a.asDouble(), b.asDouble()))
        return compared;
    if (!a.isFloating && !b.isFloating)
        return integerOperation(op, a.integer, b.integer);
    const double x = a.asDouble();
    const double y = b.asDouble();
    if (op == "+")
        return Value::of(x + y);
    if (op == "-")
        return Value::of(x - y);
    if (op == "*")
        return Value::of(x * y);
    if (op == "/" && y != 0)
        return Value::of(x / y);
    return std::nullopt;
}

std::optional<Value> castTo(const std::string& type, const Value& value) {
    if (type.find('*') != std::string::npos)
        return std::nullopt;
    if (type.find("float") != std::string::npos || type.find("double") != std::string::npos)
        return Value::of(value.asDouble());
    const double d = value.asDouble();
    if (std::isnan(d) || std::abs(d) > 9e18)
        return std::nullopt;
    return Value::of(value.asInteger());
}

/// Functions of the standard library that compute sizes.
std::optional<Value> knownCall(const std::string& function, const std::vector<Value>& arguments) {
    const auto name = lastName(function);
    if (arguments.size() == 2) {
        const auto& a = arguments[0];
        const auto& b = arguments[1];
        if (name == "min" || name == "fmin" || name == "fminf")
            return a.asDouble() <= b.asDouble() ? a : b;
        if (name == "max" || name == "fmax" || name == "fmaxf")
            return a.asDouble() >= b.asDouble() ? a : b;
        if (name == "pow" || name == "powf")
            return Value::of(std::pow(a.asDouble(), b.asDouble()));
    }
    if (arguments.size() != 1)
        return std::nullopt;
    const double x = arguments[0].asDouble();
    if (name == "ceil" || name == "ceilf")
        return Value::of(std::ceil(x));
    if (name == "floor" || name == "floorf")
        return Value::of(std::floor(x));
    if (name == "round" || name == "roundf")
        return Value::of(std::round(x));
    if ((name == "sqrt" || name == "sqrtf") && x >= 0)
        return Value::of(std::sqrt(x));
    if ((name == "log2" || name == "log2f") && x > 0)
        return Value::of(std::log2(x));
    if ((name == "log" || name == "logf") && x > 0)
        return Value::of(std::log(x));
    if (name == "abs" || name == "fabs" || name == "labs")
        return arguments[0].isFloating ? Value::of(std::abs(x))
                                       : Value::of(std::abs(arguments[0].integer));
    if (name == "int" || name == "unsigned" || name == "size_t" || name == "long" ||
        name == "uint" || name == "int64_t" || name == "uint32_t")
        return castTo("int", arguments[0]);
    if (name == "float" || name == "double")
        return Value::of(x);
    return std::nullopt;
}

std::optional<Value> evaluateCall(const Expression& call, const Names& names) {
    if (auto value = names.call(call))
        return value;
    std::vector<Value> arguments;
    for (std::size_t i = 1; i < call.children.size(); ++i) {
        const auto value = evaluate(call.children[i], names);
        if (!value)
            return std::nullopt;
        arguments.push_back(*value);
    }
    return call.children[0].kind == ExpressionKind::Name ? knownCall(call.text, arguments)
                                                         : std::nullopt;
}

std::optional<Value> evaluateUnary(const Expression& expression, const Names& names) {
    const auto operand = evaluate(expression.children[0], names);
    if (!operand || expression.text == "*" || expression.text == "&")
        return std::nullopt;
    if (expression.text == "-")
        return operand->isFloating ? Value::of(-operand->floating)
                                   : integerOperation("-", 0, operand->integer);
    if (expression.text == "!")
        return Value::of(std::int64_t{operand->asDouble() == 0 ? 1 : 0});
    if (expression.text == "~")
        return operand->isFloating ? std::nullopt : std::optional(Value::of(~operand->integer));
    return operand;
}

} // namespace

std::optional<Value> evaluate(const Expression& expression, const Names& names) {
    switch (expression.kind) {
    case ExpressionKind::Number:
        return expression.value;
    case ExpressionKind::Name:
        if (expression.text == "true" || expression.text == "false")
            return Value::of(std::int64_t{expression.text == "true" ? 1 : 0});
        return names.name(expression.text);
    case ExpressionKind::Member:
        return names.member(expression.children[0], expression.text);
    case ExpressionKind::Call:
        return evaluateCall(expression, names);
    case ExpressionKind::Unary:
        return evaluateUnary(expression, names);
    case ExpressionKind::Cast: {
        const auto operand = evaluate(expression.children[0], names);
        return operand ? castTo(expression.text, *operand) : std::nullopt;
    }
    case ExpressionKind::SizeOf:
        if (const auto size = names.sizeOf(expression.text))
            return Value::of(*size);
        return std::nullopt;
    case ExpressionKind::Binary: {
        const auto left = evaluate(expression.children[0], names);
        const auto right = evaluate(expression.children[1], names);
        return left && right ? binaryOperation(expression.text, *left, *right) : std::nullopt;
    }
    case ExpressionKind::Conditional: {
        if (const auto condition = evaluate(expression.children[0], names))
            return evaluate(expression.children[condition->asDouble() != 0 ? 1 : 2], names);
        if (!names.takesKnownBranch())
            return std::nullopt;
        // argc > 1 ? atoi(argv[1]) : 1024
        if (auto second = evaluate(expression.children[2], names))
            return second;
        return evaluate(expression.children[1], names);
    }
    case ExpressionKind::List:
        return expression.children.size() == 1 ? evaluate(expression.children[0], names)
                                               : std::nullopt;
    case ExpressionKind::Subscript:
    case ExpressionKind::Opaque:
        return std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::int64_t> sizeOfBuiltin(std::string_view type) {
    if (type.find('*') != std::string_view::npos)
        return 8;
    const auto tokens = lex(type);
    std::int64_t longs = 0;
    std::int64_t size = 0;
    for (const auto& token : tokens) {
        struct Entry {
            std::string_view name;
            std::int64_t size;
        };
        static constexpr std::array entries = {
            Entry{"char", 1},          Entry{"bool", 1},        Entry{"short", 2},
            Entry{"int", 4},           Entry{"float", 4},       Entry{"double", 8},
            Entry{"unsigned", 4},      Entry{"signed", 4},      Entry{"size_t", 8},
            Entry{"ssize_t", 8},       Entry{"half", 2},        Entry{"__half", 2},
            Entry{"__nv_bfloat16", 2}, Entry{"nv_bfloat16", 2}, Entry{"half2", 4},
            Entry{"__half2", 4},       Entry{"int8_t", 1},      Entry{"uint8_t", 1},
            Entry{"int16_t", 2},       Entry{"uint16_t", 2},    Entry{"int32_t", 4},
            Entry{"uint32_t", 4},      Entry{"int64_t", 8},     Entry{"uint64_t", 8},
            Entry{"uint", 4},          Entry{"uchar", 1},       Entry{"ushort", 2},
            Entry{"ulong", 8},         Entry{"ptrdiff_t", 8},   Entry{"clock_t", 8},
            Entry{"dim3", 12}};
        if (token.is("long")) {
            ++longs;
            continue;
        }
        if (const auto found = std::ranges::find(entries, token.text, &Entry::name);
            found != entries.end()) {
            size = size == 0 || found->name != "int" ? found->size
                                                     : size; // "short int", "unsigned char"
            continue;
        }
        const auto lanes = token.text.empty() ? '\0' : token.text.back();
        if (lanes >= '1' && lanes <= '4') {
            auto element = token.text.substr(0, token.text.size() - 1);
            if (element.starts_with("u") && element != "u")
                element.remove_prefix(1);
            const auto found = std::ranges::find(entries, element, &Entry::name);
            const auto elementSize = element == "longlong" || element == "long" ? 8
                                     : found != entries.end()                   ? found->size
                                                                                : 0;
            const auto count = lanes - '0';
            if (elementSize > 0)
                size = elementSize * count;
        }
    }
    if (longs > 0)
        return size == 8 && type.find("double") != std::string_view::npos ? 16 : 8;
    return size > 0 ? std::optional(size) : std::nullopt;
}

} // namespace kernelskill::analysis
