#include "analysis/nest/dimensions.h"

#include "analysis/nest/facts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace kernelskill::analysis {

namespace {

std::size_t degreeOf(const IndexExpression& expression) {
    std::size_t degree = 0;
    for (const auto& [monomial, coefficient] : expression.terms())
        degree = std::max(degree, monomial.size());
    return degree;
}

IndexExpression termOf(const Monomial& monomial, std::int64_t coefficient) {
    IndexExpression term = IndexExpression::constant(coefficient);
    for (const Symbol symbol : monomial)
        term = term * IndexExpression::symbol(symbol);
    return term;
}

/// The sign of the term of the highest degree.
std::int64_t leadingSign(const IndexExpression& expression) {
    const auto leading = std::ranges::max_element(
        expression.terms(), {}, [](const auto& term) { return term.first.size(); });
    return leading->second < 0 ? -1 : 1;
}

/// A quotient q and the rest of `expression` = q * `divisor` + rest, by its terms; the rest is what
/// cannot be divided.
std::pair<IndexExpression, IndexExpression> splitBy(const IndexExpression& expression,
                                                    const IndexExpression& divisor) {
    // The divisor's leading term: of the highest degree.
    auto leading = divisor.terms().begin();
    for (auto term = divisor.terms().begin(); term != divisor.terms().end(); ++term)
        if (term->first.size() > leading->first.size())
            leading = term;
    IndexExpression quotient;
    IndexExpression left = expression;
    IndexExpression rest;
    constexpr int maxRounds = 64;
    for (int round = 0; round < maxRounds && !left.terms().empty(); ++round) {
        const auto [monomial, coefficient] = *left.terms().begin();
        Monomial factor = monomial;
        bool divides = coefficient % leading->second == 0;
        for (const Symbol symbol : leading->first) {
            const auto found = std::ranges::find(factor, symbol);
            if (found == factor.end()) {
                divides = false;
                break;
            }
            factor.erase(found);
        }
        if (divides) {
            const IndexExpression part = termOf(factor, coefficient / leading->second);
            quotient = quotient + part;
            left = left - part * divisor;
        } else {
            rest = rest + termOf(monomial, coefficient);
            left = left - termOf(monomial, coefficient);
        }
    }
    return {quotient, rest + left};
}

class Splitter {
public:
    Splitter(const Nest& nest, const NestFacts& facts) : nest_(nest), facts_(facts) {}

    struct Split {
        std::vector<NestSubscript> subscripts;
        std::vector<NestCondition> assumptions;
    };

    Split split(const IndexExpression& index, int depth = 0) const {
        const Split whole{{{index, std::nullopt}}, {}};
        constexpr int maxDimensions = 8;
        if (depth > maxDimensions)
            return whole;
        std::optional<Split> best;
        for (const Stride& stride : stridesOf(index)) {
            Split candidate = splitAt(index, stride.size, depth);
            // Part of `16 - 2 n` is rarely a row: within rows that are known it is a mere step.
            if (depth > 0 && !stride.isWhole && !candidate.assumptions.empty())
                continue;
            if (!best || costOf(candidate) < costOf(*best))
                best = std::move(candidate);
        }
        return best ? *best : whole;
    }

    /// True if each term has at most one symbol that varies, with a factor that a launch decides.
    [[nodiscard]] bool isParametric(const IndexExpression& expression) const {
        return std::ranges::all_of(expression.terms(), [&](const auto& term) {
            return std::ranges::count_if(term.first, [&](Symbol symbol) {
                       return !nest_.symbols.isLaunchConstant(symbol);
                   }) < 2;
        });
    }

    /// True if each term has at most one symbol that varies, with a constant factor.
    [[nodiscard]] bool isAffine(const IndexExpression& expression) const {
        return std::ranges::all_of(expression.terms(), [&](const auto& term) {
            return term.first.size() < 2 ||
                   std::ranges::all_of(
                       term.first,
                       [&](Symbol symbol) { return nest_.symbols.isLaunchConstant(symbol); });
        });
    }

private:
    /// Assumptions count first, then the terms of the subscripts.
    [[nodiscard]] static std::pair<std::size_t, std::size_t> costOf(const Split& split) {
        std::size_t terms = 0;
        for (const NestSubscript& subscript : split.subscripts)
            terms += subscript.index.terms().size();
        return {split.assumptions.size(), terms};
    }

    struct Stride {
        IndexExpression size;
        bool isWhole = false; ///< All that a symbol is multiplied with.
    };

    /// The factors of symbols that vary, except for numbers; simplest first.
    [[nodiscard]] std::vector<Stride> stridesOf(const IndexExpression& index) const {
        std::map<Monomial, IndexExpression> factors;
        for (const auto& [monomial, coefficient] : index.terms()) {
            Monomial varies;
            Monomial fixed;
            for (const Symbol symbol : monomial)
                (nest_.symbols.isLaunchConstant(symbol) ? fixed : varies).push_back(symbol);
            if (!varies.empty()) {
                IndexExpression& factor = factors[varies];
                factor = factor + termOf(fixed, coefficient);
            }
        }
        std::vector<Stride> strides;
        const auto add = [&](const IndexExpression& size, bool isWhole) {
            const auto known = std::ranges::find(strides, size, &Stride::size);
            if (known != strides.end())
                known->isWhole = known->isWhole || isWhole;
            else if (degreeOf(size) > 0)
                strides.push_back({size, isWhole});
        };
        for (const auto& [varies, factor] : factors)
            for (const auto& [monomial, coefficient] : factor.terms()) {
                const bool isWhole = factor.terms().size() == 1;
                add(termOf(monomial, 1), isWhole); // 4 n may be four rows, -n a row backwards.
                add(termOf(monomial, coefficient < 0 ? -coefficient : coefficient), isWhole);
            }
        for (const auto& [varies, factor] : factors) // n + 2
            if (factor.terms().size() > 1) {
                std::int64_t common = 0;
                for (const auto& [monomial, coefficient] : factor.terms())
                    common = std::gcd(common, coefficient);
                IndexExpression rows; // n + 2 of 16 n + 32
                for (const auto& [monomial, coefficient] : factor.terms())
                    rows = rows + termOf(monomial, leadingSign(factor) * coefficient / common);
                add(rows, false);
                add(IndexExpression::constant(leadingSign(factor)) * factor, false);
            }
        std::ranges::stable_sort(strides, {},
                                 [](const Stride& stride) { return degreeOf(stride.size); });
        return strides;
    }

    [[nodiscard]] Split splitAt(const IndexExpression& index, const IndexExpression& stride,
                                int depth) const {
        auto [outer, inner] = splitBy(index, stride);
        const IndexExpression one = IndexExpression::constant(1);
        std::vector<NestCondition> missing = missingAt(inner, stride);
        for (const std::int64_t shift : {1, -1}) {
            if (missing.empty())
                break;
            // n - 1 - j of a row that is read backwards has its n in the rows.
            const IndexExpression moved = inner + IndexExpression::constant(shift) * stride;
            if (missingAt(moved, stride).empty()) {
                inner = moved;
                outer = outer - IndexExpression::constant(shift) * one;
                missing.clear();
            }
        }
        Split result = split(outer, depth + 1);
        result.subscripts.push_back({inner, stride});
        result.assumptions.insert(result.assumptions.end(), missing.begin(), missing.end());
        if (!missing.empty() && !isAffine(inner)) // Another stride is in the rest: not a dimension.
            result.assumptions.push_back(NestCondition::never());
        return result;
    }

    /// The parts of 0 <= inner < stride that are not proved.
    [[nodiscard]] std::vector<NestCondition> missingAt(const IndexExpression& inner,
                                                       const IndexExpression& stride) const {
        std::vector<NestCondition> missing;
        if (!isProved(nest_, facts_, inner))
            missing.push_back(NestCondition::notNegative(inner));
        const IndexExpression room = stride - IndexExpression::constant(1) - inner;
        if (!isProved(nest_, facts_, room))
            missing.push_back(NestCondition::notNegative(room));
        return missing;
    }

    const Nest& nest_;
    const NestFacts& facts_;
};

bool isLinearOp(std::string_view op) {
    return op == "/" || op == "%" || op == "min" || op == "max" || op == "abs" || op == "select";
}

/// Whether a function that is not followed, such as `i ^ j`, is part of the expression.
bool hasUnknownFunction(const NestSymbols& symbols, const IndexExpression& expression) {
    return std::ranges::any_of(expression.terms(), [&](const auto& term) {
        return std::ranges::any_of(term.first, [&](Symbol symbol) {
            const NestSymbol* named = symbols.find(symbol);
            return named != nullptr && named->kind == NestSymbolKind::Derived &&
                   (!isLinearOp(named->op) ||
                    std::ranges::any_of(named->operands, [&](const IndexExpression& operand) {
                        return hasUnknownFunction(symbols, operand);
                    }));
        });
    });
}

/// `expression` with blockIdx * blockDim + threadIdx in place of positions.
IndexExpression withoutPositions(const Nest& nest, const IndexExpression& expression) {
    IndexExpression result;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        IndexExpression term = IndexExpression::constant(coefficient);
        for (const Symbol symbol : monomial) {
            const NestSymbol* named = nest.symbols.find(symbol);
            if (named == nullptr || named->kind != NestSymbolKind::Position) {
                term = term * IndexExpression::symbol(symbol);
                continue;
            }
            const std::uint32_t axis = named->axis;
            term = term * (IndexExpression::symbol({SymbolKind::BlockIdx, axis}) *
                               IndexExpression::symbol({SymbolKind::BlockDim, axis}) +
                           IndexExpression::symbol({SymbolKind::ThreadIdx, axis}));
        }
        result = result + term;
    }
    return result;
}

/// Whether all of the split is affine and certain.
bool isBetter(const Splitter& splitter, const Splitter::Split& split) {
    return split.assumptions.empty() &&
           std::ranges::all_of(split.subscripts, [&](const NestSubscript& subscript) {
               return splitter.isAffine(subscript.index);
           });
}

void splitAccess(Nest& nest, NestAccess& access, const NestFacts& around) {
    if (!access.index)
        return;
    const NestArray* array = access.array == noId ? nullptr : &nest.arrays[access.array];
    if (array != nullptr && array->isVariable)
        return;
    NestFacts facts = around;
    addFacts(nest, access.condition, facts);
    const Splitter splitter(nest, facts);
    const bool isWritten = array != nullptr && array->extents.size() > 1 &&
                           access.subscripts.size() >= array->extents.size();
    if (!isWritten) {
        std::vector<NestSubscript> inField;
        if (!access.field.empty())
            inField = access.subscripts;
        Splitter::Split split = splitter.split(*access.index);
        if (std::ranges::any_of(split.subscripts, [&](const NestSubscript& subscript) {
                return !splitter.isAffine(subscript.index);
            })) {
            // Block and thread may be dimensions of their own.
            Splitter::Split apart = splitter.split(withoutPositions(nest, *access.index));
            if (isBetter(splitter, apart))
                split = std::move(apart);
        }
        if (std::ranges::any_of(split.assumptions, &NestCondition::isNever))
            split = {{{*access.index, std::nullopt}}, {}};
        split.subscripts.insert(split.subscripts.end(), inField.begin(), inField.end());
        access.subscripts = std::move(split.subscripts);
        access.assumptions = std::move(split.assumptions);
    }
    const auto any = [&](const auto& test) {
        return std::ranges::any_of(access.subscripts, [&](const NestSubscript& subscript) {
            return test(subscript.index);
        });
    };
    if (array != nullptr && array->isLoaded) {
        access.form = NestAccessForm::Indirect;
        access.reason = "through a pointer that is read from memory";
    } else if (any([&](const IndexExpression& index) {
                   return nest.symbols.contains(index, NestSymbolKind::Value);
               })) {
        access.form = NestAccessForm::Indirect;
        access.reason = "the index depends on values that the text does not tell";
    } else if (any([&](const IndexExpression& index) {
                   return hasUnknownFunction(nest.symbols, index);
               })) {
        access.form = NestAccessForm::Indirect;
        access.reason = "the index is no affine function";
    } else if (any([&](const IndexExpression& index) { return !splitter.isParametric(index); })) {
        access.form = NestAccessForm::Opaque;
        access.reason = "the index has a product of numbers that vary";
    } else if (any([&](const IndexExpression& index) { return !splitter.isAffine(index); })) {
        access.form = NestAccessForm::Parametric;
        access.reason = "the index has a stride that is no dimension's";
    }
}

} // namespace

void splitDimensions(Nest& nest) {
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id) {
        const NestStatement* statement = nest.nodes[id].computation();
        if (statement == nullptr || statement->accesses.empty())
            continue;
        const NestFacts facts = factsAt(nest, id);
        for (const NestAccessId access : statement->accesses)
            splitAccess(nest, nest.accesses[access], facts);
    }
}

} // namespace kernelskill::analysis
