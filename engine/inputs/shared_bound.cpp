#include "engine/inputs/shared_bound.h"

#include "analysis/model/index_expression.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

using analysis::IndexExpression;
using analysis::Symbol;
using analysis::SymbolKind;

/// The distances of neighbours along an axis, in elements.
struct Steps {
    std::int64_t ofThreads = 0;
    std::int64_t ofBlocks = 0;
};

using Values = std::map<Symbol, std::int64_t>;

/// nullopt: a step is no known number, or not positive.
std::optional<Steps> stepsAlong(const IndexExpression& position, std::uint32_t axis,
                                const Values& values) {
    const auto step = [&](SymbolKind kind) -> std::int64_t {
        const auto factor = position.coefficientOf({kind, axis});
        return factor ? factor->evaluate(values).value_or(0) : 0;
    };
    const Steps steps{step(SymbolKind::ThreadIdx), step(SymbolKind::BlockIdx)};
    return steps.ofThreads > 0 && steps.ofBlocks > 0 ? std::optional(steps) : std::nullopt;
}

std::optional<std::int64_t> blocksAlong(const IndexExpression& position, std::size_t axis,
                                        std::int64_t bound, const Values& values) {
    const auto along = stepsAlong(position, static_cast<std::uint32_t>(axis), values);
    if (!along)
        return std::nullopt;
    std::int64_t end = bound;
    bool hasOthers = false;
    for (std::uint32_t other = 0; other < 3; ++other) {
        if (other == axis || !position.dependsOn({SymbolKind::BlockIdx, other}))
            continue;
        const auto across = stepsAlong(position, other, values);
        if (!across)
            return std::nullopt;
        hasOthers = true;
        if (across->ofThreads > along->ofThreads)
            end = std::min(end, across->ofThreads);
    }
    if (!hasOthers)
        return std::nullopt;
    return std::max<std::int64_t>(1, (end + along->ofBlocks - 1) / along->ofBlocks);
}

} // namespace

std::optional<std::int64_t> blocksBelow(const analysis::KernelModel& kernel, std::size_t axis,
                                        std::int64_t bound,
                                        const std::array<std::int64_t, 3>& block,
                                        const std::map<std::string, std::int64_t>& integers) {
    Values values;
    for (std::uint32_t i = 0; i < 3; ++i)
        values[{SymbolKind::BlockDim, i}] = block[i];
    for (const analysis::Parameter& parameter : kernel.parameters)
        if (const auto value = integers.find(parameter.name); value != integers.end())
            values[{SymbolKind::Parameter, parameter.variable}] = value->second;
    for (const analysis::MemoryAccess& access : kernel.accesses) {
        if (!access.index || access.space == analysis::MemorySpace::Shared)
            continue;
        if (const auto blocks = blocksAlong(*access.index, axis, bound, values))
            return blocks;
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
