#include "analysis/nest/facts.h"

#include <algorithm>
#include <set>

namespace kernelskill::analysis {

namespace {

IndexExpression whole(std::int64_t value) {
    return IndexExpression::constant(value);
}

IndexExpression symbolTerm(Symbol symbol) {
    return IndexExpression::symbol(symbol);
}

class Prover {
public:
    Prover(const Nest& nest, const NestFacts& facts) : nest_(nest), facts_(facts) {}

    bool prove(const IndexExpression& goal, int depth = 0) {
        if (nest_.symbols.isNotNegative(goal))
            return true;
        constexpr int maxDepth = 8;
        const Monomial* doubtful = depth < maxDepth ? doubtfulTerm(goal) : nullptr;
        if (doubtful == nullptr)
            return false;
        // It has to be outweighed by a fact with the same term.
        const Monomial monomial = *doubtful;
        const std::int64_t coefficient = goal.terms().at(monomial);
        NestFacts definitions;
        define(monomial, definitions);
        for (const NestFacts* facts : {&facts_, static_cast<const NestFacts*>(&definitions)})
            for (const IndexExpression& fact : *facts) {
                const auto same = fact.terms().find(monomial);
                if (same == fact.terms().end() || (same->second < 0) != (coefficient < 0) ||
                    coefficient % same->second != 0)
                    continue;
                constexpr int maxAttempts = 48;
                if (++attempts_ > maxAttempts)
                    return false;
                if (prove(goal - whole(coefficient / same->second) * fact, depth + 1))
                    return true;
            }
        return false;
    }

private:
    [[nodiscard]] bool isSafe(const Monomial& monomial, std::int64_t coefficient) const {
        if (coefficient < 0)
            return false;
        IndexExpression term = whole(1);
        for (const Symbol symbol : monomial)
            term = term * symbolTerm(symbol);
        return nest_.symbols.isNotNegative(term);
    }

    /// A term that may be negative: of what varies if there is one, since sizes come in with it.
    [[nodiscard]] const Monomial* doubtfulTerm(const IndexExpression& goal) const {
        const Monomial* found = nullptr;
        for (const auto& [monomial, coefficient] : goal.terms()) {
            if (monomial.empty() || isSafe(monomial, coefficient))
                continue;
            const bool varies = std::ranges::any_of(
                monomial, [&](Symbol symbol) { return !nest_.symbols.isLaunchConstant(symbol); });
            if (varies)
                return &monomial;
            if (found == nullptr)
                found = &monomial;
        }
        return found;
    }

    /// Adds the facts that the definitions of the term's symbols give.
    void define(const Monomial& monomial, NestFacts& facts) const {
        for (const Symbol symbol : monomial)
            define(symbol, facts);
        // Sizes of grids and blocks are at least one: a product is no less than its parts.
        const bool isSize =
            monomial.size() > 1 && std::ranges::all_of(monomial, [](Symbol symbol) {
                return symbol.kind == SymbolKind::BlockDim || symbol.kind == SymbolKind::GridDim;
            });
        for (std::size_t i = 0; isSize && i < monomial.size(); ++i) {
            IndexExpression part = whole(1);
            for (std::size_t j = 0; j < monomial.size(); ++j)
                if (j != i)
                    part = part * symbolTerm(monomial[j]);
            facts.push_back(part * symbolTerm(monomial[i]) - part);
        }
    }

    void define(Symbol symbol, NestFacts& facts) const {
        const IndexExpression self = symbolTerm(symbol);
        if (symbol.kind == SymbolKind::ThreadIdx) {
            facts.push_back(symbolTerm({SymbolKind::BlockDim, symbol.id}) - whole(1) - self);
            if (symbol.id < 3 && nest_.extents.block[symbol.id])
                facts.push_back(whole(*nest_.extents.block[symbol.id] - 1) - self);
        }
        if (symbol.kind == SymbolKind::BlockIdx)
            facts.push_back(symbolTerm({SymbolKind::GridDim, symbol.id}) - whole(1) - self);
        if (symbol.kind == SymbolKind::BlockDim || symbol.kind == SymbolKind::GridDim) {
            facts.push_back(self - whole(1));
            if (symbol.kind == SymbolKind::BlockDim && symbol.id < 3 &&
                nest_.extents.block[symbol.id]) {
                facts.push_back(self - whole(*nest_.extents.block[symbol.id]));
                facts.push_back(whole(*nest_.extents.block[symbol.id]) - self);
            }
        }
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr)
            return;
        if (named->kind == NestSymbolKind::Position)
            facts.push_back(self - symbolTerm({SymbolKind::ThreadIdx, named->axis}));
        if (named->isNotNegative)
            facts.push_back(self);
        if (named->operands.size() != 2)
            return;
        const IndexExpression& a = named->operands[0];
        const IndexExpression& b = named->operands[1];
        // Sizes are not negative; what is divided by is not zero.
        const bool fromZero = nest_.symbols.isNotNegative(a) || nest_.symbols.isLaunchConstant(a);
        if (named->op == "/" && fromZero) {
            facts.push_back(a - self * b);
            facts.push_back(b - whole(1) - a + self * b);
            facts.push_back(self);
        } else if (named->op == "%") {
            facts.push_back(b - whole(1) - self);
            if (fromZero) {
                facts.push_back(self);
                facts.push_back(a - self);
            }
        } else if (named->op == "min") {
            facts.push_back(a - self);
            facts.push_back(b - self);
        } else if (named->op == "max") {
            facts.push_back(self - a);
            facts.push_back(self - b);
        }
    }

    const Nest& nest_;
    const NestFacts& facts_;
    int attempts_ = 0;
};

} // namespace

void addFacts(const Nest& nest, const NestCondition& condition, NestFacts& facts) {
    switch (condition.kind) {
    case NestCondition::Kind::NotNegative:
        facts.push_back(condition.expression);
        return;
    case NestCondition::Kind::Zero:
        facts.push_back(condition.expression);
        facts.push_back(whole(-1) * condition.expression);
        return;
    case NestCondition::Kind::All:
        for (const NestCondition& part : condition.parts)
            addFacts(nest, part, facts);
        return;
    case NestCondition::Kind::NotZero: {
        // An integer that is neither negative nor zero is at least one.
        const IndexExpression opposite = whole(-1) * condition.expression;
        if (isProved(nest, facts, condition.expression))
            facts.push_back(condition.expression - whole(1));
        else if (isProved(nest, facts, opposite))
            facts.push_back(opposite - whole(1));
        return;
    }
    default:
        return;
    }
}

void addFacts(const NestLoop& loop, NestFacts& facts) {
    const IndexExpression iterator = symbolTerm(loop.iterator);
    if (loop.variable == noId && !loop.first) {
        facts.push_back(iterator);
        return;
    }
    if (loop.first)
        facts.push_back(loop.isDownward ? *loop.first - iterator : iterator - *loop.first);
    if (loop.end)
        facts.push_back(loop.isDownward ? iterator - *loop.end - whole(1)
                                        : *loop.end - whole(1) - iterator);
}

NestFacts factsAt(const Nest& nest, NestNodeId node) {
    NestFacts facts;
    for (const NestNodeId id : around(nest, node)) {
        if (const NestLoop* loop = nest.node(id).loop())
            addFacts(*loop, facts);
        else if (const NestGuard* guard = nest.node(id).guard())
            addFacts(nest, guard->condition, facts);
    }
    return facts;
}

bool isProved(const Nest& nest, const NestFacts& facts, const IndexExpression& expression) {
    return Prover(nest, facts).prove(expression);
}

} // namespace kernelskill::analysis
