#include "engine/graph/extent_expression.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::graph {
namespace {

using Kind = ExtentExpression::Kind;

/// How tightly operators bind.
enum class Binding : std::uint8_t { Sum, Product, Power, Atom };

Binding bindingOf(const ExtentExpression& expression) {
    switch (expression.kind) {
    case Kind::Integer:
        return expression.integer < 0 ? Binding::Sum : Binding::Atom;
    case Kind::Sum:
        return Binding::Sum;
    case Kind::Product:
    case Kind::Quotient:
    case Kind::FloorDivide:
    case Kind::Modulo:
        return Binding::Product;
    case Kind::Power:
        return Binding::Power;
    case Kind::Symbol:
    case Kind::CeilDivide:
    case Kind::Min:
    case Kind::Max:
        return Binding::Atom;
    }
    return Binding::Atom;
}

std::string within(const ExtentExpression& expression, Binding least) {
    std::string text = textOf(expression);
    // A negative factor begins with a minus, which a product cannot have in its middle.
    const bool isBracketed =
        bindingOf(expression) < least || (least > Binding::Sum && text.starts_with('-'));
    return isBracketed ? "(" + text + ")" : text;
}

std::string call(std::string_view function, const ExtentExpression& expression) {
    std::string text(function);
    const char* separator = "(";
    for (const ExtentExpression& operand : expression.operands) {
        text += separator + textOf(operand);
        separator = ", ";
    }
    return text + ")";
}

std::string operatorText(const ExtentExpression& expression, std::string_view sign) {
    return fmt::format("{}{}{}", within(expression.operands[0], Binding::Product), sign,
                       within(expression.operands[1], Binding::Power));
}

/// Numbers come last, as in "2*s77 + 1".
std::string sumText(const ExtentExpression& expression) {
    std::string text;
    for (const bool takesNumbers : {false, true})
        for (const ExtentExpression& operand : expression.operands) {
            if ((operand.kind == Kind::Integer) != takesNumbers)
                continue;
            std::string term = textOf(operand);
            if (operand.kind == Kind::Sum)
                term = "(" + term + ")";
            if (text.empty())
                text = std::move(term);
            else if (term.starts_with('-'))
                text += " - " + term.substr(1);
            else
                text += " + " + term;
        }
    return text;
}

/// Numbers come first; a factor of -1 is a sign.
std::string productText(const ExtentExpression& expression) {
    std::string text;
    std::string sign;
    for (const bool takesNumbers : {true, false})
        for (const ExtentExpression& operand : expression.operands) {
            if ((operand.kind == Kind::Integer) != takesNumbers)
                continue;
            if (takesNumbers && operand.integer == -1 && text.empty() && sign.empty() &&
                expression.operands.size() > 1) {
                sign = "-";
                continue;
            }
            if (!text.empty())
                text += "*";
            const bool isFirst = text.empty();
            // "-a//b" would be (-a)//b.
            text +=
                takesNumbers && isFirst && sign.empty()
                    ? textOf(operand)
                    : within(operand, isFirst && sign.empty() ? Binding::Product : Binding::Power);
        }
    return sign + text;
}

} // namespace

std::string textOf(const ExtentExpression& expression) {
    switch (expression.kind) {
    case Kind::Integer:
        return std::to_string(expression.integer);
    case Kind::Symbol:
        return expression.symbol;
    case Kind::Sum:
        return sumText(expression);
    case Kind::Product:
        return productText(expression);
    case Kind::Quotient:
        return operatorText(expression, "/");
    case Kind::FloorDivide:
        return operatorText(expression, "//");
    case Kind::Modulo:
        return operatorText(expression, " % ");
    case Kind::Power:
        return fmt::format("{}**{}", within(expression.operands[0], Binding::Atom),
                           within(expression.operands[1], Binding::Atom));
    case Kind::CeilDivide:
        return call("ceildiv", expression);
    case Kind::Min:
        return call("min", expression);
    case Kind::Max:
        return call("max", expression);
    }
    return {};
}

} // namespace kernelskill::engine::graph
