#include "skills/schedule/signed_sum.h"

#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>

namespace kernelskill::skills {

using namespace analysis;

namespace {

void addTerms(SignedSum& sum, const CodeMap& code, ExprId id, bool isNegative,
              const KnownValue& knownValue) {
    const Expr& expr = code.body().expr(id);
    const auto isOperator = [&](ExprKind kind, std::string_view op) {
        return expr.kind == kind && expr.op == op;
    };
    if (expr.kind == ExprKind::Integer) {
        sum.constant += isNegative ? -expr.integer : expr.integer;
        return;
    }
    if (isOperator(ExprKind::Binary, "+") || isOperator(ExprKind::Binary, "-")) {
        addTerms(sum, code, expr.children[0], isNegative, knownValue);
        addTerms(sum, code, expr.children[1], isNegative != (expr.op == "-"), knownValue);
        return;
    }
    if (isOperator(ExprKind::Unary, "-")) {
        addTerms(sum, code, expr.children[0], !isNegative, knownValue);
        return;
    }
    if (isOperator(ExprKind::Unary, "&")) {
        const Expr& element = code.body().expr(expr.children[0]);
        if (element.kind == ExprKind::Subscript &&
            code.body().expr(element.children[0]).type.pointerDepth > 0) {
            addTerms(sum, code, element.children[0], isNegative, knownValue);
            addTerms(sum, code, element.children[1], isNegative, knownValue);
            return;
        }
    }
    if (expr.kind == ExprKind::Variable && expr.variable != noId)
        if (const ExprId value = knownValue(expr.variable); value != noId)
            return addTerms(sum, code, value, isNegative, knownValue);
    sum.terms.push_back({id, isNegative});
}

bool isPointer(const CodeMap& code, const SignedTerm& term) {
    return code.body().expr(term.expr).type.pointerDepth > 0;
}

} // namespace

SignedSum sumOf(const CodeMap& code, ExprId expr, const KnownValue& knownValue) {
    SignedSum sum;
    addTerms(sum, code, expr, false, knownValue);
    return sum;
}

SignedSum difference(const CodeMap& code, SignedSum left, const SignedSum& right) {
    for (const SignedTerm& term : right.terms) {
        const auto same = std::ranges::find_if(left.terms, [&](const SignedTerm& other) {
            return other.isNegative == term.isNegative &&
                   code.sameExpression(other.expr, term.expr);
        });
        if (same != left.terms.end())
            left.terms.erase(same);
        else
            left.terms.push_back({term.expr, !term.isNegative});
    }
    left.constant -= right.constant;
    return left;
}

ExprId takePointer(const CodeMap& code, SignedSum& sum) {
    const auto is = [&](const SignedTerm& term) { return isPointer(code, term); };
    const auto pointer = std::ranges::find_if(sum.terms, is);
    if (pointer == sum.terms.end() || pointer->isNegative ||
        std::ranges::count_if(sum.terms, is) != 1)
        return noId;
    const ExprId expr = pointer->expr;
    sum.terms.erase(pointer);
    return expr;
}

bool isNumber(const CodeMap& code, const SignedSum& sum) {
    return std::ranges::none_of(sum.terms,
                                [&](const SignedTerm& term) { return isPointer(code, term); });
}

std::string sumText(const CodeMap& code, const SourceText& source, const SignedSum& sum) {
    std::string text;
    const auto add = [&](bool isNegative, const std::string& term) {
        if (text.empty())
            text = (isNegative ? "-" : "") + term;
        else
            text += (isNegative ? " - " : " + ") + term;
    };
    // A difference reads better with what is added in front.
    for (const bool isNegative : {false, true}) {
        for (const SignedTerm& term : sum.terms)
            if (term.isNegative == isNegative)
                add(isNegative, besideComparison(source, code.body().expr(term.expr)));
        if (sum.constant != 0 && (sum.constant < 0) == isNegative)
            add(isNegative, fmt::format("{}", isNegative ? -sum.constant : sum.constant));
    }
    return text.empty() ? "0" : text;
}

} // namespace kernelskill::skills
