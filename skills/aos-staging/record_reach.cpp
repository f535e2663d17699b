#include "skills/aos-staging/record_reach.h"

#include "skills/schedule/nest_queries.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// More than a record has words.
constexpr std::size_t maxOffsets = 64;

/// Whether threads that differ in threadIdx.x alone have the same value.
bool isOfRow(const Nest& nest, const IndexExpression& expression) {
    return std::ranges::all_of(expression.terms(), [&](const auto& term) {
        return std::ranges::all_of(term.first, [&](Symbol symbol) {
            if (isBuiltIn(symbol))
                return symbol != threadX;
            const NestSymbol* named = nest.symbols.find(symbol);
            if (named == nullptr)
                return false;
            if (named->kind == NestSymbolKind::Derived)
                return named->choice.empty() &&
                       std::ranges::all_of(named->operands, [&](const IndexExpression& operand) {
                           return isOfRow(nest, operand);
                       });
            return named->kind == NestSymbolKind::Parameter ||
                   (named->kind == NestSymbolKind::Position && named->axis != 0);
        });
    });
}

/// Adds `factor` times each value of the loop's iterator to each offset; false if these are too
/// many or not known.
bool addRounds(const NestLoop& loop, std::int64_t factor, std::set<std::int64_t>& offsets) {
    if (!hasConstantRounds(loop))
        return false;
    const std::int64_t first = *loop.first->asConstant();
    const std::int64_t end = *loop.end->asConstant();
    const std::int64_t step = *loop.step->asConstant();
    std::set<std::int64_t> sums;
    for (std::int64_t value = first; step > 0 ? value < end : value > end; value += step) {
        for (const std::int64_t offset : offsets)
            sums.insert(offset + factor * value);
        if (sums.size() > maxOffsets)
            return false;
    }
    offsets = std::move(sums);
    return true;
}

} // namespace

bool hasConstantRounds(const NestLoop& loop) {
    if (loop.style != NestLoopStyle::Serial || loop.mayStop || !loop.first || !loop.end ||
        !loop.step)
        return false;
    const auto first = loop.first->asConstant();
    const auto end = loop.end->asConstant();
    const auto step = loop.step->asConstant();
    if (!first || !end || !step || *step == 0)
        return false;
    return *step > 0 ? *first < *end : *first > *end;
}

std::optional<RecordReach> recordReach(const Nest& nest, const NestAccess& access) {
    if (!access.index || access.unit == 0 || access.form == NestAccessForm::Opaque ||
        access.form == NestAccessForm::Indirect)
        return std::nullopt;
    RecordReach reach;
    std::set<std::int64_t> offsets{0};
    std::int64_t stride = 0;
    for (const auto& [monomial, factor] : access.index->terms()) {
        IndexExpression term = IndexExpression::constant(factor);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        const Symbol single = monomial.size() == 1 ? monomial.front() : Symbol{};
        const NestSymbol* named = monomial.size() == 1 ? nest.symbols.find(single) : nullptr;
        if (monomial.empty()) {
            std::set<std::int64_t> moved;
            for (const std::int64_t offset : offsets)
                moved.insert(offset + factor);
            offsets = std::move(moved);
        } else if (named != nullptr && named->kind == NestSymbolKind::Iterator) {
            const NestLoop* loop = loopOf(nest, single);
            if (loop == nullptr || !addRounds(*loop, factor, offsets))
                return std::nullopt;
        } else if (monomial.size() == 1 && single == threadX) {
            stride += factor;
        } else if (named != nullptr && named->kind == NestSymbolKind::Position &&
                   named->axis == 0) {
            // The position is threadIdx.x and what a row shares.
            stride += factor;
            reach.begin = reach.begin + term -
                          IndexExpression::constant(factor) * IndexExpression::symbol(threadX);
        } else if (isOfRow(nest, term)) {
            reach.begin = reach.begin + term;
        } else {
            return std::nullopt;
        }
    }
    const auto unit = static_cast<std::int64_t>(access.unit);
    reach.stride = stride * unit;
    reach.begin = reach.begin * IndexExpression::constant(unit);
    for (const std::int64_t offset : offsets)
        reach.offsets.insert(offset * unit);
    return reach;
}

} // namespace kernelskill::skills
