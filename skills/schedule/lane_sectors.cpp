#include "skills/schedule/lane_sectors.h"

#include "analysis/source/gpu_constants.h"
#include "skills/schedule/nest_queries.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Returns the sectors of a warp whose lanes are `stride` elements of `width` bytes apart; without
/// a known stride, one for each lane.
double sectorsOf(std::optional<std::int64_t> stride, double width) {
    if (!stride)
        return warpLanes;
    const double span = std::abs(static_cast<double>(*stride)) * width * warpLanes;
    return std::clamp(std::ceil(span / sectorBytes), 1.0, static_cast<double>(warpLanes));
}

/// Returns the load that the number comes from; nullptr if it is not loaded.
const NestAccess* loadOf(const Nest& nest, const NestSymbol& value) {
    const auto found = std::ranges::find_if(nest.accesses, [&](const NestAccess& access) {
        return value.expression != noId && access.expression == value.expression &&
               access.frame == value.frame && access.kind == AccessKind::Read;
    });
    return found == nest.accesses.end() ? nullptr : &*found;
}

/// Whether the index holds a number that the text does not tell and for which `differs` returns
/// true.
template <typename Differs>
bool hasValue(const Nest& nest, const IndexExpression& index, const Differs& differs) {
    return std::ranges::any_of(index.terms(), [&](const auto& term) {
        return std::ranges::any_of(term.first, [&](Symbol symbol) {
            const NestSymbol* named = nest.symbols.find(symbol);
            return named != nullptr && named->kind == NestSymbolKind::Value && differs(*named);
        });
    });
}

/// The symbols in which the lanes of a warp differ by one, and those that follow from them.
class LaneSteps {
public:
    explicit LaneSteps(const Nest& nest) : nest_(nest) {
        for (std::uint32_t at = 0; at < nest.symbols.all().size(); ++at)
            if (const NestSymbol& symbol = nest.symbols.all()[at];
                symbol.kind == NestSymbolKind::Position && symbol.axis == 0)
                steps_.emplace(Symbol{SymbolKind::Named, at}, IndexExpression::constant(1));
        steps_.emplace(Symbol{SymbolKind::ThreadIdx, 0}, IndexExpression::constant(1));
        // Loops whose rounds threads share begin where the thread is.
        for (const NestNode& node : nest.nodes)
            if (const NestLoop* loop = node.loop(); loop != nullptr && loop->first) {
                if (hasOwnValue(*loop->first)) // as rows of a sparse matrix do
                    ragged_.insert(loop->iterator);
                else if (const auto step = of(*loop->first); step && !step->terms().empty())
                    steps_.emplace(loop->iterator, *step);
            }
    }

    /// The difference from one lane to the next; nullopt where it differs among lanes.
    [[nodiscard]] std::optional<IndexExpression> of(const IndexExpression& index) const {
        IndexExpression total;
        if (hasOwnValue(index) ||
            std::ranges::any_of(ragged_, [&](Symbol symbol) { return index.dependsOn(symbol); }))
            return std::nullopt;
        for (const auto& [symbol, step] : steps_) {
            const auto coefficient = index.coefficientOf(symbol);
            if (!coefficient || isHidden(nest_, index, symbol))
                return std::nullopt;
            total = total + *coefficient * step;
        }
        return total;
    }

    /// Whether the index holds the symbol in a quotient or a remainder.
    static bool isHidden(const Nest& nest, const IndexExpression& index, Symbol symbol) {
        for (const auto& [monomial, factor] : index.terms())
            for (const Symbol part : monomial)
                if (const NestSymbol* named = nest.symbols.find(part);
                    named != nullptr && named->kind == NestSymbolKind::Derived &&
                    std::ranges::any_of(named->operands, [&](const IndexExpression& operand) {
                        return operand.dependsOn(symbol) || isHidden(nest, operand, symbol);
                    }))
                    return true;
        return false;
    }

private:
    /// Whether each lane has a number of its own in it: one loaded from a place of its own.
    [[nodiscard]] bool hasOwnValue(const IndexExpression& index) const {
        return hasValue(nest_, index, [&](const NestSymbol& value) {
            const NestAccess* load = loadOf(nest_, value);
            return load != nullptr && load->index &&
                   std::ranges::any_of(steps_, [&](const auto& known) {
                       return load->index->dependsOn(known.first);
                   });
        });
    }

    const Nest& nest_;
    std::map<Symbol, IndexExpression> steps_;
    std::set<Symbol> ragged_; ///< Iterators that begin where each lane loaded a number of its own.
};

/// Returns the elements from one thread to the next, a constant or a length; nullopt if the text
/// does not tell.
std::optional<IndexExpression> threadStep(const LaneSteps& steps, const NestAccess& access) {
    return access.index ? steps.of(*access.index) : std::nullopt;
}

/// Returns the elements from one round of a loop to the next, as above.
std::optional<std::int64_t> roundStride(const Nest& nest, const NestAccess& access,
                                        NestNodeId loop) {
    const Symbol iterator = nest.node(loop).loop()->iterator;
    const bool isGathered =
        access.index && hasValue(nest, *access.index, [&](const NestSymbol& value) {
            const NestAccess* load = loadOf(nest, value);
            return load != nullptr && isInside(nest, loop, load->node);
        });
    if (isGathered)
        return std::nullopt;
    const auto step = access.index ? access.index->coefficientOf(iterator) : std::nullopt;
    return step && !LaneSteps::isHidden(nest, *access.index, iterator) ? step->asConstant()
                                                                       : std::nullopt;
}

} // namespace

LaneSectors laneSectors(const Nest& nest, NestNodeId loop) {
    const LaneSteps steps(nest);
    LaneSectors sectors;
    for (const NestAccess& access : nest.accesses) {
        if (isThreadsOwn(nest, access) || access.array == noId ||
            !isInside(nest, loop, access.node))
            continue;
        const double width = std::max<double>(access.width, 1);
        const auto step = threadStep(steps, access);
        const double asThreads = sectorsOf(step ? step->asConstant() : std::nullopt, width);
        sectors.asThreads += asThreads;
        sectors.surelyAsThreads += step ? asThreads : 1;
        sectors.asLanes += sectorsOf(roundStride(nest, access, loop), width);
    }
    return sectors;
}

} // namespace kernelskill::skills
