#include "skills/schedule/placed_value.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int maxDepth = 24;

PlacedValue constant(std::int64_t value) {
    return {IndexExpression::constant(value), {}};
}

/// Takes numbers that all threads share into the base.
PlacedValue normalised(PlacedValue value) {
    if (value.local.empty())
        return value;
    const std::int64_t least = *std::ranges::min_element(value.local);
    for (std::int64_t& number : value.local)
        number -= least;
    value.base = value.base + IndexExpression::constant(least);
    if (std::ranges::all_of(value.local, [](std::int64_t number) { return number == 0; }))
        value.local.clear();
    return value;
}

} // namespace

std::optional<PlacedValue> PlacedValues::of(ExprId id, int depth) const {
    const FunctionBody& body = code_.body();
    const Expr& expr = body.expr(id);
    if (depth > maxDepth)
        return std::nullopt;
    switch (expr.kind) {
    case ExprKind::Integer:
        return constant(expr.integer);
    case ExprKind::Cast:
        return of(expr.children[0], depth + 1);
    case ExprKind::InitList:
        return expr.children.size() == 1 ? of(expr.children[0], depth + 1) : std::nullopt;
    case ExprKind::BuiltinIndex:
        return builtin(expr);
    case ExprKind::Variable:
        return named(expr, depth);
    case ExprKind::Call: {
        const bool isProduct = expr.name == "__mul24" || expr.name == "__umul24";
        if (!isProduct || expr.children.size() != 2)
            return std::nullopt;
        const auto a = of(expr.children[0], depth + 1);
        const auto b = of(expr.children[1], depth + 1);
        return a && b ? operation("*", *a, *b) : std::nullopt;
    }
    case ExprKind::Binary: {
        if (expr.children.size() != 2)
            return std::nullopt;
        const auto a = of(expr.children[0], depth + 1);
        const auto b = of(expr.children[1], depth + 1);
        return a && b ? operation(expr.op, *a, *b) : std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

std::optional<PlacedValue> PlacedValues::named(const Expr& expr, int depth) const {
    const FunctionBody& body = code_.body();
    if (const auto found = nest_.instantiation.find(expr.name);
        expr.variable == noId && found != nest_.instantiation.end()) {
        std::int64_t value = 0;
        const char* end = found->second.data() + found->second.size();
        const auto [stop, error] = std::from_chars(found->second.data(), end, value);
        return error == std::errc{} && stop == end ? std::optional(constant(value)) : std::nullopt;
    }
    if (expr.variable == noId)
        return std::nullopt;
    const Variable& variable = body.variable(expr.variable);
    if (variable.constantValue)
        return constant(*variable.constantValue);
    if (code_.isEverWritten(expr.variable))
        return std::nullopt;
    if (variable.storage == Storage::Local && variable.init != noId)
        return of(variable.init, depth + 1);
    if (variable.storage == Storage::Parameter)
        return PlacedValue{IndexExpression::symbol({SymbolKind::Parameter, expr.variable}), {}};
    return std::nullopt;
}

std::optional<PlacedValue> PlacedValues::builtin(const Expr& expr) const {
    if (expr.axis > 2)
        return std::nullopt;
    if (expr.name == "blockDim")
        return constant(block_[expr.axis]);
    if (expr.name == "blockIdx")
        return PlacedValue{IndexExpression::symbol({SymbolKind::BlockIdx, expr.axis}), {}};
    if (expr.name == "gridDim")
        return PlacedValue{IndexExpression::symbol({SymbolKind::GridDim, expr.axis}), {}};
    if (expr.name != "threadIdx")
        return std::nullopt;
    PlacedValue value = constant(0);
    value.local.resize(threads());
    std::int64_t stride = 1;
    for (std::uint8_t axis = 0; axis < expr.axis; ++axis)
        stride *= block_[axis];
    for (std::size_t thread = 0; thread < value.local.size(); ++thread)
        value.local[thread] = static_cast<std::int64_t>(thread) / stride % block_[expr.axis];
    return normalised(std::move(value));
}

std::optional<PlacedValue> PlacedValues::operation(const std::string& op, const PlacedValue& a,
                                                   const PlacedValue& b) const {
    const auto number = b.isUniform() ? b.base.asConstant() : std::nullopt;
    constexpr std::int64_t maxShift = 30;
    if (op == "+" || op == "-") {
        const std::int64_t sign = op == "+" ? 1 : -1;
        PlacedValue sum;
        const auto base = op == "+" ? IndexExpression::sum(a.base, b.base)
                                    : IndexExpression::difference(a.base, b.base);
        if (!base)
            return std::nullopt;
        sum.base = *base;
        if (a.isUniform() && b.isUniform())
            return sum;
        sum.local.resize(threads());
        for (std::size_t thread = 0; thread < sum.local.size(); ++thread)
            sum.local[thread] = (a.isUniform() ? 0 : a.local[thread]) +
                                (b.isUniform() ? 0 : sign * b.local[thread]);
        return normalised(std::move(sum));
    }
    if (op == "*") {
        if (!b.isUniform())
            return a.isUniform() ? operation("*", b, a) : std::nullopt;
        if (!a.isUniform() && !number)
            return std::nullopt;
        const auto base = IndexExpression::product(a.base, b.base);
        if (!base)
            return std::nullopt;
        PlacedValue product{*base, a.local};
        for (std::int64_t& local : product.local)
            local *= *number;
        return normalised(std::move(product));
    }
    if (!number)
        return std::nullopt;
    if (op == "/" || op == "%")
        return quotient(a, *number, op == "%");
    if (op == "<<" && *number >= 0 && *number <= maxShift)
        return operation("*", a, constant(std::int64_t{1} << *number));
    if (op == ">>" && *number >= 0 && *number <= maxShift)
        return quotient(a, std::int64_t{1} << *number, false);
    if (op == "&" && *number > 0 && std::has_single_bit(static_cast<std::uint64_t>(*number) + 1))
        return quotient(a, *number + 1, true);
    return std::nullopt;
}

/// Exact where the divisor divides all of the base but its number, and nothing is negative.
std::optional<PlacedValue> PlacedValues::quotient(PlacedValue value, std::int64_t divisor,
                                                  bool isRemainder) const {
    if (divisor < 1)
        return std::nullopt;
    std::int64_t number = 0;
    IndexExpression base = IndexExpression::constant(0);
    for (const auto& [monomial, factor] : value.base.terms()) {
        if (monomial.empty()) {
            number = factor;
            continue;
        }
        const bool isNotNegative =
            factor > 0 && std::ranges::all_of(monomial, [](Symbol symbol) {
                return symbol.kind == SymbolKind::BlockIdx || symbol.kind == SymbolKind::GridDim;
            });
        if (!isNotNegative || factor % divisor != 0)
            return std::nullopt;
        IndexExpression term = IndexExpression::constant(factor / divisor);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        base = base + term;
    }
    if (number < 0)
        return std::nullopt;
    PlacedValue result{isRemainder ? IndexExpression::constant(0) : base, value.local};
    if (result.local.empty())
        result.local.resize(threads());
    for (std::int64_t& local : result.local)
        local = isRemainder ? (local + number) % divisor : (local + number) / divisor;
    return normalised(std::move(result));
}

} // namespace kernelskill::skills
