#include "analysis/nest/symbols.h"

#include "analysis/model/integer_arithmetic.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

std::string axisName(std::string_view base, std::uint32_t axis) {
    constexpr std::string_view axes = "xyz";
    return std::string(base) + "." + axes[std::min<std::size_t>(axis, 2)];
}

/// The terms whose coefficient `divisor` divides, divided; and the others.
std::pair<IndexExpression, IndexExpression> dividedTerms(const IndexExpression& expression,
                                                         std::int64_t divisor) {
    IndexExpression whole;
    IndexExpression rest;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        IndexExpression term = IndexExpression::constant(1);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        const bool divides = coefficient % divisor == 0;
        IndexExpression& target = divides ? whole : rest;
        target = target +
                 term * IndexExpression::constant(divides ? coefficient / divisor : coefficient);
    }
    return {whole, rest};
}

/// `expression` / `divisor` where every term has the divisor's symbols; nullopt otherwise.
std::optional<IndexExpression> dividedBy(const IndexExpression& expression,
                                         const IndexExpression& divisor) {
    if (divisor.terms().size() != 1)
        return std::nullopt;
    const auto& [symbols, factor] = *divisor.terms().begin();
    IndexExpression result;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        if (factor == 0 || coefficient % factor != 0)
            return std::nullopt;
        Monomial left = monomial;
        for (const Symbol symbol : symbols) {
            const auto found = std::ranges::find(left, symbol);
            if (found == left.end())
                return std::nullopt;
            left.erase(found);
        }
        IndexExpression term = IndexExpression::constant(coefficient / factor);
        for (const Symbol symbol : left)
            term = term * IndexExpression::symbol(symbol);
        result = result + term;
    }
    return result;
}

std::string comparisonText(const NestSymbols& symbols, const IndexExpression& expression,
                           std::string_view op) {
    // Terms with a minus go to the other side: n - 1 - i >= 0 is i <= n - 1, that is i < n.
    IndexExpression left;
    IndexExpression right;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        IndexExpression term =
            IndexExpression::constant(coefficient < 0 ? -coefficient : coefficient);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        if (monomial.empty())
            right = right + IndexExpression::constant(coefficient);
        else if (coefficient < 0)
            left = left + term;
        else
            right = right + term;
    }
    std::string_view shown = op;
    if (op == "<=") {
        right = right + IndexExpression::constant(1);
        shown = "<";
    }
    if (left.terms().empty()) {
        // right > 0, that is -(constant) < the rest.
        const auto constant = right.terms().find(Monomial{});
        const std::int64_t low = constant == right.terms().end() ? 0 : -constant->second;
        const IndexExpression rest = right + IndexExpression::constant(low);
        if (op == "<=")
            return symbols.describe(rest) + " >= " + std::to_string(low + 1);
        return symbols.describe(rest) + " " + std::string(shown) + " " + std::to_string(low);
    }
    return symbols.describe(left) + " " + std::string(shown) + " " + symbols.describe(right);
}

} // namespace

bool isBuiltIn(Symbol symbol) {
    return symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::BlockIdx ||
           symbol.kind == SymbolKind::BlockDim || symbol.kind == SymbolKind::GridDim;
}

Symbol NestSymbols::add(NestSymbol symbol) {
    const std::uint32_t count = ++names_[symbol.name];
    if (count > 1)
        symbol.name += "'" + std::to_string(count);
    symbols_.push_back(std::move(symbol));
    return {SymbolKind::Named, static_cast<std::uint32_t>(symbols_.size() - 1)};
}

Symbol NestSymbols::position(std::uint8_t axis) {
    const auto known = positions_.find(axis);
    if (known != positions_.end())
        return known->second;
    NestSymbol symbol;
    symbol.kind = NestSymbolKind::Position;
    symbol.name = axisName("globalIdx", axis);
    symbol.axis = axis;
    symbol.isNotNegative = true;
    return positions_[axis] = add(std::move(symbol));
}

Symbol NestSymbols::derived(std::string_view op, std::vector<IndexExpression> operands) {
    std::vector<std::map<Monomial, std::int64_t>> key;
    for (const IndexExpression& operand : operands)
        key.push_back(operand.terms());
    const auto [entry, isNew] = derived_.try_emplace({std::string(op), std::move(key)});
    if (!isNew)
        return entry->second;
    NestSymbol symbol;
    symbol.kind = NestSymbolKind::Derived;
    symbol.op = op;
    for (const IndexExpression& operand : operands)
        symbol.depth = std::max(symbol.depth, depthOf(operand) + 1);
    symbol.name = derivedName(op, operands);
    const auto isSafe = [&](const IndexExpression& operand) { return isNotNegative(operand); };
    // A remainder has the sign of what is divided. Sizes that a launch divides by are positive.
    const bool bySize = op == "/" && operands.size() == 2 && isLaunchConstant(operands[1]);
    symbol.isNotNegative =
        op == "abs" || (op == "max"           ? std::ranges::any_of(operands, isSafe)
                        : op == "%" || bySize ? isSafe(operands[0])
                                              : std::ranges::all_of(operands, isSafe));
    constexpr int maxDepth = 6;
    if (symbol.depth > maxDepth) { // A hash, not an index.
        symbol.kind = NestSymbolKind::Value;
        symbol.op.clear();
    } else {
        symbol.operands = std::move(operands);
    }
    entry->second = add(std::move(symbol));
    return entry->second;
}

int NestSymbols::depthOf(const IndexExpression& expression) const {
    int depth = 0;
    for (const auto& [monomial, coefficient] : expression.terms())
        for (const Symbol symbol : monomial)
            if (const NestSymbol* named = find(symbol))
                depth = std::max(depth, named->depth);
    return depth;
}

std::string NestSymbols::derivedName(std::string_view op,
                                     const std::vector<IndexExpression>& operands) const {
    const bool isFunction = op.front() >= 'a' && op.front() <= 'z';
    std::string text;
    for (const IndexExpression& operand : operands) {
        const bool isFirst = text.empty();
        if (!isFirst)
            text += isFunction ? ", " : " " + std::string(op) + " ";
        const bool isProduct =
            operand.terms().size() == 1 && !operand.terms().begin()->first.empty() &&
            (operand.terms().begin()->first.size() > 1 || operand.terms().begin()->second != 1);
        const bool groups = !isFunction && (operand.terms().size() > 1 || (isProduct && !isFirst));
        text += (groups ? "(" : "") + describe(operand) + (groups ? ")" : "");
    }
    constexpr std::size_t longest = 120;
    if (text.size() > longest)
        text = "... " + std::string(op) + " ...";
    return (isFunction ? std::string(op) : std::string()) + "(" + text + ")";
}

Symbol NestSymbols::selection(const NestCondition& condition, IndexExpression then,
                              IndexExpression otherwise) {
    for (std::uint32_t id = 0; id < symbols_.size(); ++id) {
        const NestSymbol& known = symbols_[id];
        if (known.op == "select" && known.choice.front() == condition &&
            known.operands[0] == then && known.operands[1] == otherwise)
            return {SymbolKind::Named, id};
    }
    NestSymbol symbol;
    symbol.kind = NestSymbolKind::Derived;
    symbol.op = "select";
    symbol.name =
        "(" + describe(condition) + " ? " + describe(then) + " : " + describe(otherwise) + ")";
    symbol.choice = {condition};
    symbol.depth = std::max(depthOf(then), depthOf(otherwise)) + 1;
    constexpr int maxDepth = 6;
    constexpr std::size_t longest = 120;
    if (symbol.name.size() > longest)
        symbol.name = "(... ? ... : ...)";
    if (symbol.depth > maxDepth) {
        symbol.kind = NestSymbolKind::Value;
        symbol.op.clear();
        symbol.choice.clear();
        return add(std::move(symbol));
    }
    symbol.isNotNegative = isNotNegative(then) && isNotNegative(otherwise);
    symbol.operands = {std::move(then), std::move(otherwise)};
    return add(std::move(symbol));
}

const NestSymbol* NestSymbols::find(Symbol symbol) const {
    return symbol.kind == SymbolKind::Named && symbol.id < symbols_.size() ? &symbols_[symbol.id]
                                                                           : nullptr;
}

IndexExpression NestSymbols::withPositions(const IndexExpression& expression) {
    IndexExpression result;
    bool changed = false;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        IndexExpression term = IndexExpression::constant(coefficient);
        Monomial left = monomial;
        for (std::uint8_t axis = 0; axis < 3; ++axis) {
            const auto block = std::ranges::find(left, Symbol{SymbolKind::BlockIdx, axis});
            if (block == left.end())
                continue;
            left.erase(block);
            const auto size = std::ranges::find(left, Symbol{SymbolKind::BlockDim, axis});
            if (size == left.end()) {
                left.push_back({SymbolKind::BlockIdx, axis});
                continue;
            }
            left.erase(size);
            changed = true;
            term = term * (IndexExpression::symbol(position(axis)) -
                           IndexExpression::symbol({SymbolKind::ThreadIdx, axis}));
        }
        for (const Symbol symbol : left)
            term = term * IndexExpression::symbol(symbol);
        result = result + term;
    }
    return changed ? result : expression;
}

std::optional<IndexExpression> NestSymbols::product(const IndexExpression& a,
                                                    const IndexExpression& b) {
    std::optional<IndexExpression> plain = IndexExpression::product(a, b);
    if (!plain || a.asConstant() || b.asConstant())
        return plain;
    return withPositions(*plain);
}

IndexExpression NestSymbols::quotient(const IndexExpression& a, const IndexExpression& b) {
    const auto divisor = b.asConstant();
    if (const auto value = a.asConstant(); value && divisor)
        if (const auto result = integerResult("/", *value, *divisor))
            return IndexExpression::constant(*result);
    if (divisor == 1 || a.asConstant() == 0)
        return a;
    if (const auto exact = dividedBy(a, b))
        return *exact;
    if (divisor && *divisor > 1 && isNotNegative(a)) {
        // (4 i + r) / 4 is i + r / 4 where nothing is negative.
        const auto [whole, rest] = dividedTerms(a, *divisor);
        if (isNotNegative(whole) && isNotNegative(rest) && !whole.terms().empty()) {
            const auto small = rest.asConstant();
            if (small)
                return whole + IndexExpression::constant(*small / *divisor);
            return whole + IndexExpression::symbol(derived("/", {rest, b}));
        }
    }
    return IndexExpression::symbol(derived("/", {a, b}));
}

IndexExpression NestSymbols::remainder(const IndexExpression& a, const IndexExpression& b) {
    const auto divisor = b.asConstant();
    if (const auto value = a.asConstant(); value && divisor)
        if (const auto result = integerResult("%", *value, *divisor))
            return IndexExpression::constant(*result);
    if (divisor == 1 || dividedBy(a, b))
        return IndexExpression::constant(0);
    if (divisor && *divisor > 1 && isNotNegative(a)) {
        const auto [whole, rest] = dividedTerms(a, *divisor);
        if (isNotNegative(whole) && isNotNegative(rest) && !whole.terms().empty()) {
            if (const auto small = rest.asConstant())
                return IndexExpression::constant(*small % *divisor);
            return IndexExpression::symbol(derived("%", {rest, b}));
        }
    }
    return IndexExpression::symbol(derived("%", {a, b}));
}

IndexExpression NestSymbols::withRemainders(IndexExpression expression) {
    const std::size_t count = symbols_.size();
    for (std::uint32_t id = 0; id < count; ++id) {
        const Symbol symbol{SymbolKind::Named, id};
        if (symbols_[id].op != "/" || !expression.dependsOn(symbol))
            continue;
        const IndexExpression a = symbols_[id].operands[0];
        const IndexExpression b = symbols_[id].operands[1];
        const auto factor = expression.coefficientOf(symbol);
        const auto times = factor ? dividedBy(*factor, b) : std::nullopt;
        const auto number = times ? times->asConstant() : std::nullopt;
        if (!number || *number >= 0)
            continue;
        const IndexExpression wanted = IndexExpression::constant(-*number);
        const IndexExpression rest =
            expression - wanted * (a - IndexExpression::symbol(symbol) * b);
        if (rest.terms().size() < expression.terms().size())
            expression = rest + wanted * remainder(a, b);
    }
    return expression;
}

IndexExpression NestSymbols::result(std::string_view op, const IndexExpression& a,
                                    const IndexExpression& b) {
    const auto left = a.asConstant();
    const auto right = b.asConstant();
    if (left && right)
        if (const auto known = integerResult(op, *left, *right))
            return IndexExpression::constant(*known);
    if (op == "/")
        return quotient(a, b);
    if (op == "%")
        return remainder(a, b);
    if ((op == "min" || op == "max")) {
        const auto distance = (a - b).asConstant();
        if (distance)
            return (*distance <= 0) == (op == "min") ? a : b;
        return a.terms() < b.terms() ? IndexExpression::symbol(derived(op, {a, b}))
                                     : IndexExpression::symbol(derived(op, {b, a}));
    }
    constexpr std::int64_t maxShift = 62;
    const bool shifts = right && *right >= 0 && *right < maxShift;
    if (op == "<<" && shifts)
        return a * IndexExpression::constant(std::int64_t{1} << *right);
    if (op == ">>" && shifts && isNotNegative(a))
        return quotient(a, IndexExpression::constant(std::int64_t{1} << *right));
    if (op == "&" && isNotNegative(a) && right && *right > 0 && ((*right + 1) & *right) == 0)
        return remainder(a, IndexExpression::constant(*right + 1));
    if (op == "&" && isNotNegative(b) && left && *left > 0 && ((*left + 1) & *left) == 0)
        return remainder(b, IndexExpression::constant(*left + 1));
    if (op == "&" && isNotNegative(a) && right && *right < 0 && ((-*right) & (-*right - 1)) == 0)
        return a - remainder(a, IndexExpression::constant(-*right)); // i & ~31
    return IndexExpression::symbol(derived(op, {a, b}));
}

bool NestSymbols::isNotNegative(const IndexExpression& expression) const {
    return std::ranges::all_of(expression.terms(), [&](const auto& term) {
        return term.second >= 0 && std::ranges::all_of(term.first, [&](Symbol symbol) {
                   const NestSymbol* named = find(symbol);
                   return named != nullptr ? named->isNotNegative : isBuiltIn(symbol);
               });
    });
}

bool NestSymbols::contains(const IndexExpression& expression, NestSymbolKind kind) const {
    return std::ranges::any_of(expression.terms(), [&](const auto& term) {
        return std::ranges::any_of(term.first, [&](Symbol symbol) {
            const NestSymbol* named = find(symbol);
            return named != nullptr &&
                   (named->kind == kind ||
                    std::ranges::any_of(named->operands, [&](const IndexExpression& operand) {
                        return contains(operand, kind);
                    }));
        });
    });
}

bool NestSymbols::isLaunchConstant(Symbol symbol) const {
    if (symbol.kind == SymbolKind::BlockDim || symbol.kind == SymbolKind::GridDim)
        return true;
    const NestSymbol* named = find(symbol);
    if (named == nullptr)
        return false;
    if (named->kind == NestSymbolKind::Parameter)
        return true;
    return named->kind == NestSymbolKind::Derived && named->op != "select" &&
           std::ranges::all_of(named->operands, [&](const IndexExpression& operand) {
               return isLaunchConstant(operand);
           });
}

bool NestSymbols::isLaunchConstant(const IndexExpression& expression) const {
    return std::ranges::all_of(expression.terms(), [&](const auto& term) {
        return std::ranges::all_of(term.first,
                                   [&](Symbol symbol) { return isLaunchConstant(symbol); });
    });
}

std::string NestSymbols::nameOf(Symbol symbol) const {
    switch (symbol.kind) {
    case SymbolKind::ThreadIdx:
        return axisName("threadIdx", symbol.id);
    case SymbolKind::BlockIdx:
        return axisName("blockIdx", symbol.id);
    case SymbolKind::BlockDim:
        return axisName("blockDim", symbol.id);
    case SymbolKind::GridDim:
        return axisName("gridDim", symbol.id);
    default: {
        const NestSymbol* named = find(symbol);
        return named != nullptr ? named->name : "?";
    }
    }
}

std::string NestSymbols::describe(const IndexExpression& expression) const {
    return expression.describe([&](Symbol symbol) { return nameOf(symbol); });
}

std::string NestSymbols::describe(const NestCondition& condition) const {
    using Kind = NestCondition::Kind;
    switch (condition.kind) {
    case Kind::Always:
        return "true";
    case Kind::Never:
        return "false";
    case Kind::NotNegative:
        return comparisonText(*this, condition.expression, "<=");
    case Kind::Zero:
        return comparisonText(*this, condition.expression, "==");
    case Kind::NotZero:
        return comparisonText(*this, condition.expression, "!=");
    case Kind::Unknown:
        return (condition.isNegated ? "!(" : "") + condition.text +
               (condition.isNegated ? ")" : "");
    case Kind::All:
    case Kind::Any:
        break;
    }
    std::string text;
    for (const NestCondition& part : condition.parts) {
        if (!text.empty())
            text += condition.kind == Kind::All ? " && " : " || ";
        const bool nested = part.kind == Kind::All || part.kind == Kind::Any;
        text += (nested ? "(" : "") + describe(part) + (nested ? ")" : "");
    }
    return text;
}

} // namespace kernelskill::analysis
