#include "analysis/queries/launch_values.h"

#include "analysis/source/decimal.h"

#include <algorithm>
#include <map>

namespace kernelskill::analysis {

LaunchValues::LaunchValues(const SharedAnalysis& shared, const LaunchSite& launch)
    : IntegerValues(shared.code().body()), shared_(shared), launch_(launch),
      host_(shared.host(launch.host)), grid_(host_.extents(launch.grid)),
      block_(host_.extents(launch.block)) {}

std::optional<std::int64_t> LaunchValues::of(ExprId kernelExpr) const {
    return value(kernelExpr);
}

ExprId LaunchValues::fixedValue(VariableId id) const {
    const Variable& variable = body().variable(id);
    const bool isFixed = variable.type.scalar < ScalarKind::Half &&
                         variable.storage != Storage::Parameter &&
                         !shared_.code().isEverWritten(id);
    return isFixed ? variable.init : noId;
}

std::optional<std::int64_t> LaunchValues::leaf(const Expr& expr, int depth) const {
    if (expr.kind == ExprKind::BuiltinIndex) {
        if (expr.name == "blockDim")
            return block_[expr.axis % 3];
        return expr.name == "gridDim" ? grid_[expr.axis % 3] : std::nullopt;
    }
    if (expr.kind != ExprKind::Variable)
        return std::nullopt;
    return expr.variable == noId ? templateArgument(expr.name) : argument(expr.variable, depth);
}

std::optional<std::int64_t> LaunchValues::argument(VariableId id, int depth) const {
    const Variable& variable = body().variable(id);
    if (variable.type.scalar >= ScalarKind::Half || shared_.code().isEverWritten(id))
        return std::nullopt;
    if (variable.storage != Storage::Parameter)
        return templateArgument(variable.name);
    const auto& parameters = shared_.kernel().parameters;
    const auto at = std::ranges::find(parameters, id, &Parameter::variable);
    const auto index = static_cast<std::size_t>(at - parameters.begin());
    return index < launch_.arguments.size() ? host_.value(launch_.arguments[index], depth)
                                            : std::nullopt;
}

std::optional<std::int64_t> LaunchValues::variableValue(VariableId id, int depth) const {
    if (body().variable(id).constantValue)
        return body().variable(id).constantValue;
    const ExprId fixed = fixedValue(id);
    return fixed == noId ? argument(id, depth) : value(fixed, depth);
}

std::optional<std::int64_t> LaunchValues::templateArgument(const std::string& name) const {
    const auto& parameters = shared_.kernel().templateParameters;
    const auto at = std::ranges::find(parameters, name, &TemplateParameter::name);
    const auto index = static_cast<std::size_t>(at - parameters.begin());
    if (at == parameters.end() || index >= launch_.templateArguments.size())
        return std::nullopt;
    return decimalIn(launch_.templateArguments[index]);
}

std::optional<std::int64_t> LaunchValues::stepOf(const Loop& loop) const {
    if (!loop.stepExpression)
        return std::nullopt;
    std::map<Symbol, std::int64_t> values;
    for (const auto& [monomial, coefficient] : loop.stepExpression->terms())
        for (const Symbol symbol : monomial) {
            std::optional<std::int64_t> value;
            if (symbol.kind == SymbolKind::BlockDim)
                value = block_[symbol.id % 3];
            else if (symbol.kind == SymbolKind::Parameter || symbol.kind == SymbolKind::Opaque)
                value = variableValue(symbol.id, 0);
            if (!value)
                return std::nullopt;
            values[symbol] = *value;
        }
    return loop.stepExpression->evaluate(values);
}

std::optional<std::int64_t> LaunchValues::rounds(const Loop& loop) const {
    if (loop.tripCount)
        return loop.tripCount;
    const auto low = of(loop.lowerBound);
    return low ? roundsFrom(*low, loop) : std::nullopt;
}

std::optional<std::int64_t> LaunchValues::maxRounds(const Loop& loop) const {
    if (const auto known = rounds(loop))
        return known;
    constexpr std::int64_t bits = 32;
    const bool scales = loop.stepOperator == "/=" || loop.stepOperator == ">>=" ||
                        loop.stepOperator == "*=" || loop.stepOperator == "<<=";
    return scales ? bits : roundsFrom(0, loop);
}

std::optional<std::int64_t> LaunchValues::roundsFrom(std::int64_t low, const Loop& loop) const {
    const bool countsUp = loop.comparison == "<" || loop.comparison == "<=";
    const auto high = of(loop.upperBound);
    const auto step = loop.step ? loop.step : stepOf(loop);
    if (!countsUp || !high || !step || *step <= 0)
        return std::nullopt;
    const std::int64_t last = *high + (loop.comparison == "<=" ? 1 : 0);
    return std::max<std::int64_t>(0, (last - low + *step - 1) / *step);
}

} // namespace kernelskill::analysis
