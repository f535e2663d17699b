#include "skills/schedule/grid_axes.h"

#include "analysis/nest/facts.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/thread_position.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/position_numbers.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The uses of a kernel's position along one axis.
class AxisUses {
public:
    AxisUses(const CodeMap& code, std::uint8_t axis)
        : code_(code), body_(code.body()), axis_(axis) {}

    [[nodiscard]] bool areNumbers() {
        if (!usesThread(body_, axis_))
            return false;
        nameParts();
        std::set<ExprId> outermost;
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (isNamed(id))
                outermost.insert(topOf(id));
        return std::ranges::all_of(
            outermost, [&](ExprId id) { return isInitialiserOfPart(id) || asksForNumber(id); });
    }

private:
    [[nodiscard]] bool isNamed(ExprId id) const {
        const Expr& expr = body_.expr(id);
        return (expr.kind == ExprKind::BuiltinIndex && expr.axis == axis_) ||
               (expr.kind == ExprKind::Variable && parts_.contains(expr.variable));
    }
    [[nodiscard]] bool isNumber(const IndexExpression& value) const {
        return isByNumberAlone(
            byNumber(value, axis_, IndexExpression::symbol({SymbolKind::BlockDim, axis_})), axis_);
    }
    [[nodiscard]] ExprId topOf(ExprId id) const {
        while (code_.parent(id) != noId)
            id = code_.parent(id);
        return id;
    }
    [[nodiscard]] bool isInitialiserOfPart(ExprId id) const {
        return std::ranges::any_of(
            parts_, [&](VariableId part) { return body_.variable(part).init == id; });
    }

    /// Finds the variables that hold a part of the number, such as threadIdx.x: what is made of
    /// them counts.
    void nameParts() {
        for (bool isNew = true; isNew;) {
            isNew = false;
            for (VariableId id = 0; id < body_.variables.size(); ++id) {
                const Variable& variable = body_.variable(id);
                if (variable.storage != Storage::Local || variable.init == noId ||
                    code_.isEverWritten(id) || variable.type.isReference || parts_.contains(id))
                    continue;
                const auto below = code_.expressionsBelow(variable.init);
                if (std::ranges::none_of(below, [&](ExprId at) { return isNamed(at); }))
                    continue;
                const auto value = polynomialOf(code_, variable.init);
                if (value && !isNumber(*value))
                    isNew = parts_.insert(id).second;
            }
        }
    }

    /// The largest parts of the expression that are arithmetic ask for the number alone.
    [[nodiscard]] bool asksForNumber(ExprId id) const {
        const auto below = code_.expressionsBelow(id);
        if (std::ranges::none_of(below, [&](ExprId at) { return isNamed(at); }))
            return true;
        const auto value = polynomialOf(code_, id);
        if (!value && !body_.expr(id).children.empty())
            return std::ranges::all_of(body_.expr(id).children,
                                       [&](ExprId child) { return asksForNumber(child); });
        return value && isNumber(*value);
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    std::uint8_t axis_;
    std::set<VariableId> parts_;
};

/// Limits of the numbers of threads that come to a node.
class LimitReader {
public:
    explicit LimitReader(const Nest& nest) : nest_(nest) {
        for (std::uint32_t id = 0; id < nest.symbols.all().size(); ++id)
            if (const NestSymbol& symbol = nest.symbols.all()[id];
                symbol.kind == NestSymbolKind::Position)
                positions_.at(symbol.axis) = Symbol{SymbolKind::Named, id};
    }

    /// Empty where an access is not limited.
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
    /// `limit` of the first fact `limit - 1 - number >= 0`.
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
    KERNELSKILL_CHECK(editablePositions(context));
    KERNELSKILL_CHECK(requireThreadsApart(context));
    const LimitReader reader(context.shared().nest());
    GridAxes axes;
    for (std::uint8_t axis = 0; axis < axes.size(); ++axis) {
        axes[axis].isFree = AxisUses(context.code(), axis).areNumbers();
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
