#include "engine/graph/lowering/extent_index.h"

#include "engine/graph/lowering/lowering.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

using ExtentKind = ExtentExpression::Kind;

/// Parts of an extent need not be integers: s0/2 + s0/2.
struct Fraction {
    Index numerator = 0;
    Index denominator = 1;
};

Fraction sum(const Fraction& left, const Fraction& right) {
    if (left.denominator == right.denominator)
        return {left.numerator + right.numerator, left.denominator};
    return {left.numerator * right.denominator + right.numerator * left.denominator,
            left.denominator * right.denominator};
}

Fraction product(const Fraction& left, const Fraction& right) {
    return {left.numerator * right.numerator, left.denominator * right.denominator};
}

class Reading {
public:
    Reading(const ExtentExpression& whole, const Program& program)
        : whole_(whole), program_(program) {}

    [[nodiscard]] Fraction read(const ExtentExpression& expression) const {
        if (expression.kind == ExtentKind::Integer)
            return {expression.integer, 1};
        if (expression.kind == ExtentKind::Symbol)
            return {sizeOf(expression.symbol), 1};
        Fraction result = read(expression.operands.at(0));
        for (std::size_t i = 1; i < expression.operands.size(); ++i)
            result = combined(expression.kind, result, read(expression.operands[i]));
        return result;
    }

private:
    [[nodiscard]] Index sizeOf(const std::string& symbol) const {
        const auto range = program_.symbols.find(symbol);
        if (range == program_.symbols.end())
            return Index::size(symbol);
        return Index::size(symbol, std::max<std::int64_t>(range->second.low, 0),
                           range->second.high);
    }

    [[nodiscard]] NotRaised refused(const char* why) const {
        return {fmt::format("the extent {} {}", textOf(whole_), why)};
    }

    [[nodiscard]] Fraction combined(ExtentKind kind, const Fraction& left,
                                    const Fraction& right) const {
        switch (kind) {
        case ExtentKind::Sum:
            return sum(left, right);
        case ExtentKind::Product:
            return product(left, right);
        case ExtentKind::Quotient:
            return {left.numerator * right.denominator, left.denominator * right.numerator};
        case ExtentKind::FloorDivide:
            return {divided(left, right), 1};
        case ExtentKind::CeilDivide: {
            const Index by = right.numerator * left.denominator;
            return {divided({left.numerator * right.denominator + by - 1, 1}, {by, 1}), 1};
        }
        case ExtentKind::Modulo:
            return sum(left, product({Index(0) - divided(left, right), 1}, right));
        case ExtentKind::Power:
            return power(left, right);
        case ExtentKind::Min:
        case ExtentKind::Max:
            return isLeftSmaller(left, right) == (kind == ExtentKind::Min) ? left : right;
        case ExtentKind::Integer:
        case ExtentKind::Symbol:
            break;
        }
        throw refused("has an operator without operands");
    }

    /// left // right
    [[nodiscard]] Index divided(const Fraction& left, const Fraction& right) const {
        const Index by = left.denominator * right.numerator;
        const auto low = by.bounds().low;
        if (!low || *low < 1)
            throw refused("is divided by what may be 0 or negative");
        return quotient(left.numerator * right.denominator, by);
    }

    [[nodiscard]] Fraction power(const Fraction& base, const Fraction& exponent) const {
        constexpr std::int64_t highest = 8;
        const auto times =
            exponent.denominator.constant() == 1 ? exponent.numerator.constant() : std::nullopt;
        if (!times || std::abs(*times) > highest)
            throw refused("has an exponent that is no small number");
        const Fraction factor = *times < 0 ? Fraction{base.denominator, base.numerator} : base;
        Fraction result{1, 1};
        for (std::int64_t i = 0; i < std::abs(*times); ++i)
            result = product(result, factor);
        return result;
    }

    /// Whether `left` is at most `right` for all values of the symbols.
    [[nodiscard]] bool isLeftSmaller(const Fraction& left, const Fraction& right) const {
        const Fraction distance = sum(right, product({-1, 1}, left));
        const analysis::raise::Bounds bounds = distance.numerator.bounds();
        if (bounds.low && *bounds.low >= 0)
            return true;
        if (bounds.high && *bounds.high <= 0)
            return false;
        throw refused("is one or another by the values of its symbols");
    }

    const ExtentExpression& whole_;
    const Program& program_;
};

std::string atomText(const Index::Atom& atom) {
    switch (atom.kind) {
    case Index::Atom::Kind::Size:
        return atom.name;
    case Index::Atom::Kind::Quotient:
    case Index::Atom::Kind::Remainder:
        return fmt::format("(({}){}({}))", expressionText(*atom.left),
                           atom.kind == Index::Atom::Kind::Quotient ? "//" : "%",
                           expressionText(*atom.right));
    case Index::Atom::Kind::Axis:
    case Index::Atom::Kind::Data:
        break;
    }
    return atom.key;
}

} // namespace

Index indexOf(const ExtentExpression& expression, const Program& program) {
    const Fraction value = Reading(expression, program).read(expression);
    // The whole is an integer, so that the quotient is exact.
    return quotient(value.numerator, value.denominator);
}

std::string expressionText(const Index& index) {
    std::string text;
    for (const Index::Monomial& monomial : index.monomials()) {
        std::string term = std::to_string(monomial.factor);
        for (const Index::AtomRef& atom : monomial.atoms)
            term += "*" + atomText(*atom);
        text += text.empty() ? term : " + " + term;
    }
    return text.empty() ? "0" : text;
}

} // namespace kernelskill::engine::graph
