#include "skills/schedule/lane_sectors.h"

#include "analysis/source/gpu_constants.h"
#include "skills/schedule/nest_queries.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The sectors of a warp whose lanes are `stride` elements of `width` bytes apart; nullopt: by a
/// number that the launch decides.
double sectorsOf(std::optional<std::int64_t> stride, double width) {
    if (!stride)
        return warpLanes;
    const double span = std::abs(static_cast<double>(*stride)) * width * warpLanes;
    return std::clamp(std::ceil(span / sectorBytes), 1.0, static_cast<double>(warpLanes));
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
            if (const NestLoop* loop = node.loop(); loop != nullptr && loop->first)
                if (const auto step = of(*loop->first); step && !step->terms().empty())
                    steps_.emplace(loop->iterator, *step);
    }

    /// The difference from one lane to the next; nullopt where it differs among lanes.
    [[nodiscard]] std::optional<IndexExpression> of(const IndexExpression& index) const {
        IndexExpression total;
        for (const auto& [symbol, step] : steps_) {
            const auto coefficient = index.coefficientOf(symbol);
            if (!coefficient || isHidden(nest_, index, symbol))
                return std::nullopt;
            total = total + *coefficient * step;
        }
        return total;
    }

    /// A quotient or a remainder hides the symbol's part.
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
    const Nest& nest_;
    std::map<Symbol, IndexExpression> steps_;
};

/// Elements from one thread to the next; nullopt: by a number that the launch decides.
std::optional<std::int64_t> threadStride(const LaneSteps& steps, const NestAccess& access) {
    const auto step = access.index ? steps.of(*access.index) : std::nullopt;
    return step ? step->asConstant() : std::nullopt;
}

/// Elements from one round of a loop to the next.
std::optional<std::int64_t> roundStride(const Nest& nest, const NestAccess& access,
                                        Symbol iterator) {
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
        sectors.asThreads += sectorsOf(threadStride(steps, access), width);
        sectors.asLanes +=
            sectorsOf(roundStride(nest, access, nest.node(loop).loop()->iterator), width);
    }
    return sectors;
}

} // namespace kernelskill::skills
