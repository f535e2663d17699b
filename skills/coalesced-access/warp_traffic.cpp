#include "skills/coalesced-access/warp_traffic.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/gpu_constants.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr double roundsOfALoop = 16;
/// Stands for a size that is not known: large, and a multiple of every alignment that counts here.
constexpr std::int64_t largeMultiple = 1 << 20;

class LaneIndex {
public:
    LaneIndex(const SkillContext& context, std::map<Symbol, std::int64_t> values)
        : kernel_(context.kernel), code_(context.code()), values_(std::move(values)) {}

    std::optional<std::int64_t> of(const IndexExpression& index, int depth = 0) {
        constexpr int maximumDepth = 8;
        if (depth > maximumDepth)
            return std::nullopt;
        for (const auto& [monomial, coefficient] : index.terms())
            for (const Symbol symbol : monomial)
                if (!values_.contains(symbol)) {
                    const auto value = valueOf(symbol, depth);
                    if (!value)
                        return std::nullopt;
                    values_.emplace(symbol, *value);
                }
        return index.evaluate(values_);
    }

private:
    std::optional<std::int64_t> valueOf(Symbol symbol, int depth) {
        switch (symbol.kind) {
        case SymbolKind::ThreadIdx:
        case SymbolKind::BlockIdx:
            return 0;
        case SymbolKind::BlockDim:
        case SymbolKind::GridDim:
        case SymbolKind::Parameter:
            return largeMultiple;
        case SymbolKind::LoopVariable: {
            const auto loop = std::ranges::find(kernel_.loops, symbol.id, &Loop::inductionVariable);
            if (loop == kernel_.loops.end() || !loop->start)
                return 0;
            return of(*loop->start, depth + 1);
        }
        case SymbolKind::Opaque: {
            const ExprId init = kernel_.body.variable(symbol.id).init;
            const bool isUniform =
                init != noId && !code_.isEverWritten(symbol.id) && isUniformInput(code_, init);
            return isUniform ? std::optional(largeMultiple) : std::nullopt;
        }
        case SymbolKind::Named: // Not made by the model.
            break;
        }
        return std::nullopt;
    }

    const KernelModel& kernel_;
    const CodeMap& code_;
    std::map<Symbol, std::int64_t> values_;
};

} // namespace

LaneSymbols lanesOfBlock(const std::array<std::int64_t, 3>& block) {
    return [block](int lane) {
        return std::map<Symbol, std::int64_t>{
            {{SymbolKind::ThreadIdx, 0}, lane % block[0]},
            {{SymbolKind::ThreadIdx, 1}, lane / block[0] % block[1]},
            {{SymbolKind::ThreadIdx, 2}, lane / (block[0] * block[1])},
            {{SymbolKind::BlockDim, 0}, block[0]},
            {{SymbolKind::BlockDim, 1}, block[1]},
            {{SymbolKind::BlockDim, 2}, block[2]}};
    };
}

WarpTraffic warpTraffic(const SkillContext& context, const LaneSymbols& lanes) {
    std::vector<LaneIndex> indices;
    for (int lane = 0; lane < analysis::warpLanes; ++lane)
        indices.emplace_back(context, lanes(lane));
    WarpTraffic traffic;
    for (const MemoryAccess& access : context.kernel.accesses) {
        const bool isGlobal =
            access.space == MemorySpace::Global || access.space == MemorySpace::Generic;
        if (!isGlobal || !access.index || access.width == 0)
            continue;
        std::set<std::int64_t> elements;
        std::set<std::int64_t> sectors;
        const auto width = static_cast<std::int64_t>(access.width);
        bool isKnown = true;
        for (LaneIndex& lane : indices) {
            const auto element = lane.of(*access.index);
            isKnown = isKnown && element.has_value();
            if (!isKnown)
                break;
            elements.insert(*element);
            for (std::int64_t byte = *element * width; byte < (*element + 1) * width;
                 byte += std::min(width, analysis::sectorBytes))
                sectors.insert(byte / analysis::sectorBytes);
        }
        if (!isKnown)
            continue;
        const double weight = std::pow(roundsOfALoop, static_cast<double>(access.loops.size()));
        const double bytes = static_cast<double>(elements.size()) * static_cast<double>(width);
        traffic.sectors += weight * static_cast<double>(sectors.size());
        traffic.least += weight * std::ceil(bytes / static_cast<double>(analysis::sectorBytes));
        traffic.requests += weight;
    }
    return traffic;
}

} // namespace kernelskill::skills
