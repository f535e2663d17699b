#include "analysis/model/index_expression.h"

#include <algorithm>
#include <limits>

namespace kernelskill::analysis {

namespace {

/// Adds with wrap-around like the machine, because signed overflow would be undefined behaviour
/// here.
std::int64_t wrappingAdd(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t wrappingMultiply(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::string nameOf(Symbol symbol, const FunctionBody& body) {
    const char* axes[] = {".x", ".y", ".z"};
    const auto builtin = [&](std::string name) {
        return name.append(symbol.id < 3 ? axes[symbol.id] : "");
    };
    switch (symbol.kind) {
    case SymbolKind::ThreadIdx:
        return builtin("threadIdx");
    case SymbolKind::BlockIdx:
        return builtin("blockIdx");
    case SymbolKind::BlockDim:
        return builtin("blockDim");
    case SymbolKind::GridDim:
        return builtin("gridDim");
    default:
        return symbol.id < body.variables.size() ? body.variables[symbol.id].name : "?";
    }
}

} // namespace

SymbolKind builtinKind(std::string_view name) {
    if (name == "threadIdx")
        return SymbolKind::ThreadIdx;
    if (name == "blockIdx")
        return SymbolKind::BlockIdx;
    return name == "blockDim" ? SymbolKind::BlockDim : SymbolKind::GridDim;
}

IndexExpression IndexExpression::constant(std::int64_t value) {
    IndexExpression result;
    if (value != 0)
        result.terms_.emplace(Monomial{}, value);
    return result;
}

IndexExpression IndexExpression::symbol(Symbol symbol) {
    IndexExpression result;
    result.terms_.emplace(Monomial{symbol}, 1);
    return result;
}

std::optional<std::int64_t> IndexExpression::asConstant() const {
    if (terms_.empty())
        return 0;
    if (terms_.size() == 1 && terms_.begin()->first.empty())
        return terms_.begin()->second;
    return std::nullopt;
}

IndexExpression IndexExpression::operator+(const IndexExpression& other) const {
    IndexExpression result = *this;
    for (const auto& [monomial, coefficient] : other.terms_) {
        std::int64_t& sum = result.terms_[monomial];
        sum = wrappingAdd(sum, coefficient);
        if (sum == 0)
            result.terms_.erase(monomial);
    }
    return result;
}

IndexExpression IndexExpression::operator-(const IndexExpression& other) const {
    return *this + constant(-1) * other;
}

IndexExpression IndexExpression::operator*(const IndexExpression& other) const {
    IndexExpression result;
    for (const auto& [left, a] : terms_) {
        for (const auto& [right, b] : other.terms_) {
            Monomial product = left;
            product.insert(product.end(), right.begin(), right.end());
            std::ranges::sort(product);
            std::int64_t& sum = result.terms_[product];
            sum = wrappingAdd(sum, wrappingMultiply(a, b));
            if (sum == 0)
                result.terms_.erase(product);
        }
    }
    return result;
}

bool IndexExpression::isTooLarge() const {
    constexpr std::size_t maxTerms = 128;
    constexpr std::size_t maxDegree = 16;
    return terms_.size() > maxTerms || std::ranges::any_of(terms_, [](const auto& term) {
               return term.first.size() > maxDegree;
           });
}

std::optional<IndexExpression> IndexExpression::sum(const IndexExpression& a,
                                                    const IndexExpression& b) {
    IndexExpression result = a + b;
    return result.isTooLarge() ? std::nullopt : std::optional(std::move(result));
}

std::optional<IndexExpression> IndexExpression::difference(const IndexExpression& a,
                                                           const IndexExpression& b) {
    IndexExpression result = a - b;
    return result.isTooLarge() ? std::nullopt : std::optional(std::move(result));
}

std::optional<IndexExpression> IndexExpression::product(const IndexExpression& a,
                                                        const IndexExpression& b) {
    IndexExpression result = a * b;
    return result.isTooLarge() ? std::nullopt : std::optional(std::move(result));
}

std::optional<IndexExpression> IndexExpression::coefficientOf(Symbol symbol) const {
    IndexExpression result;
    for (const auto& [monomial, coefficient] : terms_) {
        const auto power = std::ranges::count(monomial, symbol);
        if (power > 1)
            return std::nullopt;
        if (power == 0)
            continue;
        Monomial rest = monomial;
        rest.erase(std::ranges::find(rest, symbol));
        std::int64_t& sum = result.terms_[rest];
        sum = wrappingAdd(sum, coefficient);
    }
    std::erase_if(result.terms_, [](const auto& term) { return term.second == 0; });
    return result;
}

bool IndexExpression::dependsOn(Symbol symbol) const {
    return std::ranges::any_of(terms_, [&](const auto& term) {
        return std::ranges::find(term.first, symbol) != term.first.end();
    });
}

bool IndexExpression::hasOpaque() const {
    return std::ranges::any_of(terms_, [](const auto& term) {
        return std::ranges::any_of(term.first,
                                   [](Symbol symbol) { return symbol.kind == SymbolKind::Opaque; });
    });
}

std::optional<std::int64_t>
IndexExpression::evaluate(const std::map<Symbol, std::int64_t>& values) const {
    std::int64_t sum = 0;
    for (const auto& [monomial, coefficient] : terms_) {
        std::int64_t product = coefficient;
        for (const Symbol symbol : monomial) {
            const auto value = values.find(symbol);
            if (value == values.end())
                return std::nullopt;
            product = wrappingMultiply(product, value->second);
        }
        sum = wrappingAdd(sum, product);
    }
    return sum;
}

std::string IndexExpression::describe(const FunctionBody& body) const {
    return describe([&](Symbol symbol) { return nameOf(symbol, body); });
}

std::string
IndexExpression::describe(const std::function<std::string(Symbol)>& nameOfSymbol) const {
    // Threads first, the constant last: the usual order in code.
    std::vector<std::pair<Monomial, std::int64_t>> ordered(terms_.begin(), terms_.end());
    std::ranges::stable_sort(ordered, [](const auto& a, const auto& b) {
        if (a.first.empty() != b.first.empty())
            return b.first.empty();
        return a.first < b.first;
    });
    std::string text;
    for (const auto& [monomial, coefficient] : ordered) {
        const bool negative = coefficient < 0;
        if (!text.empty())
            text += negative ? " - " : " + ";
        else if (negative)
            text += "-";
        const bool lowest = coefficient == std::numeric_limits<std::int64_t>::min();
        std::string magnitude = std::to_string(coefficient);
        if (negative && !lowest)
            magnitude = std::to_string(-coefficient);
        if (monomial.empty()) {
            text += magnitude;
            continue;
        }
        if (magnitude != "1") {
            text += magnitude;
            text += '*';
        }
        for (std::size_t i = 0; i < monomial.size(); ++i) {
            if (i > 0)
                text += '*';
            text += nameOfSymbol(monomial[i]);
        }
    }
    return text.empty() ? "0" : text;
}

} // namespace kernelskill::analysis
