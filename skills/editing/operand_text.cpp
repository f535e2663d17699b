#include "skills/editing/operand_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string enclosedIf(bool isOpen, const SourceText& source, const Expr& expr) {
    const std::string text(source.slice(expr.span));
    return isOpen ? "(" + text + ")" : text;
}

} // namespace

std::string besideProduct(const SourceText& source, const Expr& expr) {
    const bool isOpen = expr.kind == ExprKind::Binary || expr.kind == ExprKind::Conditional;
    return enclosedIf(isOpen, source, expr);
}

std::string besideComparison(const SourceText& source, const Expr& expr) {
    constexpr std::array<std::string_view, 5> arithmetic = {"+", "-", "*", "/", "%"};
    const bool isOpen = expr.kind == ExprKind::Conditional ||
                        (expr.kind == ExprKind::Binary &&
                         std::ranges::find(arithmetic, expr.op) == arithmetic.end());
    return enclosedIf(isOpen, source, expr);
}

} // namespace kernelskill::skills
