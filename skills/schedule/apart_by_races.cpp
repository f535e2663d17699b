#include "skills/schedule/apart_by_races.h"

#include "skills/schedule/nest_queries.h"

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Finds by the accesses' indices whether neighbouring threads would race if two arrays overlapped.
class RaceReader {
public:
    explicit RaceReader(const Nest& nest) : nest_(nest) {
        symbols_.push_back({SymbolKind::ThreadIdx, 0});
        for (std::uint32_t id = 0; id < nest.symbols.all().size(); ++id)
            if (const NestSymbol& symbol = nest.symbols.all()[id];
                symbol.kind == NestSymbolKind::Position && symbol.axis == 0)
                symbols_.push_back({SymbolKind::Named, id});
    }

    [[nodiscard]] std::optional<IndexExpression> distance(const NestAccess& access) const {
        const auto index = indexOf(access);
        return index ? laneStep(*index) : std::nullopt;
    }

    [[nodiscard]] bool areApart(const NestAccess& a, const NestAccess& b) const {
        if (a.unit != b.unit || a.width != b.width || a.width != a.unit || !a.field.empty() ||
            !b.field.empty() || !isOfNeighbours(a) || !isOfNeighbours(b) || isBarrierBetween(a, b))
            return false;
        const auto first = indexOf(a);
        const auto second = indexOf(b);
        if (!first || !second)
            return false;
        // In each of these shapes, one of two neighbouring threads would store to what the other
        // uses.
        return isElementBesideRow(*first, a, *second, b) ||
               isElementBesideRow(*second, b, *first, a) || isSameRow(*first, a, *second, b) ||
               (isStored(a) && stepOf(*first) == 1 && isOfAll(*second)) ||
               (isStored(b) && stepOf(*second) == 1 && isOfAll(*first));
    }

private:
    [[nodiscard]] static bool isStored(const NestAccess& access) {
        return access.kind == AccessKind::Write || access.kind == AccessKind::ReadWrite;
    }

    /// Nodes are in the order in which they run.
    [[nodiscard]] bool isBarrierBetween(const NestAccess& a, const NestAccess& b) const {
        for (NestNodeId id = std::min(a.node, b.node); id < std::max(a.node, b.node); ++id)
            if (nest_.node(id).barrier() != nullptr)
                return true;
        return false;
    }

    /// Whether threads side by side run the access alike: nothing around it asks for data, or for
    /// one thread.
    [[nodiscard]] bool isOfNeighbours(const NestAccess& access) const {
        if (!isLetOn(access.condition))
            return false;
        const std::vector<NestNodeId> outer = around(nest_, access.node);
        return std::ranges::all_of(outer, [&](NestNodeId id) {
            const NestGuard* guard = nest_.node(id).guard();
            const NestLoop* loop = nest_.node(id).loop();
            return (guard == nullptr || isLetOn(guard->condition)) &&
                   (loop == nullptr || !loop->mayStop);
        });
    }
    [[nodiscard]] bool isLetOn(const NestCondition& condition) const {
        using Kind = NestCondition::Kind;
        if (condition.kind == Kind::All)
            return std::ranges::all_of(condition.parts,
                                       [&](const NestCondition& part) { return isLetOn(part); });
        return condition.kind == Kind::Always ||
               (condition.kind == Kind::NotNegative &&
                !nest_.symbols.contains(condition.expression, NestSymbolKind::Value)) ||
               ((condition.kind == Kind::Zero || condition.kind == Kind::NotZero) &&
                nest_.symbols.isLaunchConstant(condition.expression));
    }

    /// The index with the digits of a position put together again.
    [[nodiscard]] std::optional<IndexExpression> indexOf(const NestAccess& access) const {
        if (!access.index || nest_.symbols.contains(*access.index, NestSymbolKind::Value))
            return std::nullopt;
        IndexExpression index = *access.index;
        for (bool isChanged = true; isChanged;) {
            isChanged = false;
            for (std::uint32_t id = 0; id < nest_.symbols.all().size() && !isChanged; ++id) {
                const NestSymbol& rest = nest_.symbols.all()[id];
                if (rest.kind == NestSymbolKind::Derived && rest.op == "%" &&
                    rest.operands.size() == 2)
                    isChanged = putTogether(index, {SymbolKind::Named, id}, rest);
            }
        }
        return index;
    }
    /// Replaces `k * (x / n * n + x % n)` by `k * x`.
    [[nodiscard]] bool putTogether(IndexExpression& index, Symbol rest,
                                   const NestSymbol& named) const {
        const auto factor = index.coefficientOf(rest);
        if (!factor || factor->terms().empty() || !nest_.symbols.isLaunchConstant(*factor))
            return false;
        for (std::uint32_t id = 0; id < nest_.symbols.all().size(); ++id) {
            const NestSymbol& other = nest_.symbols.all()[id];
            const Symbol quotient{SymbolKind::Named, id};
            if (other.kind != NestSymbolKind::Derived || other.op != "/" ||
                other.operands != named.operands || !index.dependsOn(quotient) ||
                index.coefficientOf(quotient) != *factor * named.operands[1])
                continue;
            index = index - *factor * IndexExpression::symbol(rest) -
                    *factor * named.operands[1] * IndexExpression::symbol(quotient) +
                    *factor * named.operands[0];
            return true;
        }
        return false;
    }

    /// The distance of neighbouring threads; nullopt where it is not one for all.
    [[nodiscard]] std::optional<IndexExpression> laneStep(const IndexExpression& index) const {
        IndexExpression step;
        for (const Symbol symbol : symbols_) {
            const auto coefficient = index.coefficientOf(symbol);
            if (!coefficient || !nest_.symbols.isLaunchConstant(*coefficient))
                return std::nullopt;
            step = step + *coefficient;
        }
        for (const auto& [monomial, factor] : index.terms())
            for (const Symbol symbol : monomial)
                if (const NestSymbol* named = nest_.symbols.find(symbol);
                    named != nullptr && named->kind == NestSymbolKind::Derived &&
                    !nest_.symbols.isLaunchConstant(IndexExpression::symbol(symbol)))
                    return std::nullopt;
        return step;
    }
    [[nodiscard]] std::optional<std::int64_t> stepOf(const IndexExpression& index) const {
        const auto step = laneStep(index);
        return step ? step->asConstant() : std::nullopt;
    }
    /// Whether all threads of a block use the element.
    [[nodiscard]] bool isOfAll(const IndexExpression& index) const { return stepOf(index) == 0; }

    /// The loop around the access whose rounds go on by one element.
    [[nodiscard]] const NestLoop* walk(const IndexExpression& index,
                                       const NestAccess& access) const {
        for (const NestNodeId id : around(nest_, access.node))
            if (const NestLoop* loop = nest_.node(id).loop();
                loop != nullptr && loop->style == NestLoopStyle::Serial &&
                index.coefficientOf(loop->iterator) == IndexExpression::constant(1))
                return loop;
        return nullptr;
    }

    [[nodiscard]] bool isElementBesideRow(const IndexExpression& element, const NestAccess& a,
                                          const IndexExpression& row, const NestAccess& b) const {
        const NestLoop* loop = walk(row, b);
        const auto pitch = laneStep(row);
        return loop != nullptr && stepOf(element) == 1 && pitch &&
               !element.dependsOn(loop->iterator) && (isStored(a) || isStored(b)) &&
               pitch->asConstant() != 0 && pitch->asConstant() != 1;
    }

    /// Whether both walk along the same row, and rows follow one another without a gap: places that
    /// are further on are a neighbour's.
    [[nodiscard]] bool isSameRow(const IndexExpression& first, const NestAccess& a,
                                 const IndexExpression& second, const NestAccess& b) const {
        if (a.node != b.node || first != second || !(isStored(a) || isStored(b)))
            return false;
        const NestLoop* loop = walk(first, a);
        const auto pitch = laneStep(first);
        return loop != nullptr && pitch && loop->first && loop->end &&
               *loop->end - *loop->first == *pitch;
    }

    const Nest& nest_;
    std::vector<Symbol> symbols_; ///< By which neighbouring threads differ by one.
};

} // namespace

bool areApartByRaces(const Nest& nest, const NestAccess& a, const NestAccess& b) {
    return RaceReader(nest).areApart(a, b);
}

std::optional<IndexExpression> threadDistance(const Nest& nest, const NestAccess& access) {
    return RaceReader(nest).distance(access);
}

} // namespace kernelskill::skills
