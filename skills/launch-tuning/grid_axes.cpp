#include "skills/launch-tuning/grid_axes.h"

#include "analysis/nest/facts.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/thread_position.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/position_numbers.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Whether the kernel asks for its threads along the axis, and only for their numbers in the grid.
bool asksForNumbersAlone(const CodeMap& code, std::uint8_t axis) {
    const IndexExpression width = IndexExpression::symbol({SymbolKind::BlockDim, axis});
    const auto isNumber = [&](const IndexExpression& value) {
        return isByNumberAlone(byNumber(value, axis, width), axis);
    };
    return usesThread(code.body(), axis) && !PositionUses(code, axis, isNumber).firstOtherUse();
}

/// Reads the bounds that guards put on the numbers of the threads that come to a node.
class LimitReader {
public:
    explicit LimitReader(const Nest& nest) : nest_(nest) {
        for (std::uint32_t id = 0; id < nest.symbols.all().size(); ++id)
            if (const NestSymbol& symbol = nest.symbols.all()[id];
                symbol.kind == NestSymbolKind::Position)
                positions_.at(symbol.axis) = Symbol{SymbolKind::Named, id};
    }

    /// The bounds of all accesses; empty if one of them has none.
    [[nodiscard]] std::vector<IndexExpression> limits(std::uint8_t axis) const {
        std::vector<IndexExpression> all;
        if (!positions_.at(axis))
            return all;
        for (const NestAccess& access : nest_.accesses) {
            if (isThreadsOwn(nest_, access))
                continue;
            NestFacts facts = factsAt(nest_, access.node);
            addFacts(nest_, access.condition, facts);
            const auto limit = limitIn(facts, *positions_.at(axis));
            if (!limit)
                return {};
            if (std::ranges::find(all, *limit) == all.end())
                all.push_back(*limit);
        }
        return all;
    }

private:
    /// Returns `limit` of the first fact `limit - 1 - number >= 0`.
    [[nodiscard]] std::optional<IndexExpression> limitIn(const NestFacts& facts,
                                                         Symbol number) const {
        for (const IndexExpression& fact : facts) {
            const auto factor = fact.coefficientOf(number);
            if (!factor || factor->asConstant() != -1)
                continue;
            IndexExpression limit =
                fact + IndexExpression::symbol(number) + IndexExpression::constant(1);
            if (nest_.symbols.isLaunchConstant(limit))
                return limit;
        }
        return std::nullopt;
    }

    const Nest& nest_;
    std::array<std::optional<Symbol>, 3> positions_;
};

} // namespace

Gated<GridAxes> gridAxes(const SkillContext& context) {
    KERNELSKILL_CHECK(requireKnownPositions(context));
    KERNELSKILL_CHECK(requireThreadsApart(context));
    const LimitReader reader(context.shared().nest());
    GridAxes axes;
    for (std::uint8_t axis = 0; axis < axes.size(); ++axis) {
        axes[axis].isFree = asksForNumbersAlone(context.code(), axis);
        if (axes[axis].isFree)
            axes[axis].limits = reader.limits(axis);
    }
    if (std::ranges::none_of(axes, &GridAxis::isFree))
        return refuse("uses-thread-position",
                      fmt::format("{} asks for more than its threads' numbers in the grid",
                                  context.kernel.name));
    return axes;
}

} // namespace kernelskill::skills
