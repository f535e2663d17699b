#include "analysis/queries/launch_values.h"

#include "analysis/model/integer_arithmetic.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace kernelskill::analysis {

namespace {

constexpr int maxValueDepth = 16;

bool isDim3Type(const Type& type) {
    return type.canonical.contains("dim3") || type.spelling.contains("dim3");
}

/// 0 for `.x`; nullopt for another member.
std::optional<std::size_t> axisOf(const Expr& member) {
    constexpr std::string_view axes = "xyz";
    const auto at = member.name.size() == 1 ? axes.find(member.name) : std::string_view::npos;
    return at == std::string_view::npos ? std::nullopt : std::optional(at);
}

} // namespace

LaunchValues::LaunchValues(const SharedAnalysis& shared, const LaunchSite& launch)
    : shared_(shared), launch_(launch), host_(shared.host(launch.host)),
      grid_(axesOf(launch.grid, 0)), block_(axesOf(launch.block, 0)) {}

LaunchValues::Axes LaunchValues::axesOf(ExprId id, int depth) const {
    const ExprId plain = host_.withoutCasts(id);
    if (plain == noId || depth > maxValueDepth)
        return {};
    const Expr& expr = host_.body().expr(plain);
    if (expr.kind == ExprKind::Variable && expr.variable != noId && isDim3Type(expr.type)) {
        const ExprId init = host_.body().variable(expr.variable).init;
        return init == noId || host_.isEverWritten(expr.variable) ? Axes{}
                                                                  : axesOf(init, depth + 1);
    }
    const bool isList =
        expr.kind == ExprKind::InitList ||
        ((expr.kind == ExprKind::Call || expr.kind == ExprKind::Other) && isDim3Type(expr.type));
    if (!isList)
        return {hostValue(plain, depth + 1), 1, 1};
    if (expr.children.size() == 1 &&
        isDim3Type(host_.body().expr(host_.withoutCasts(expr.children[0])).type))
        return axesOf(expr.children[0], depth + 1);
    Axes axes{1, 1, 1};
    if (expr.children.empty() || expr.children.size() > axes.size())
        return {};
    for (std::size_t i = 0; i < expr.children.size(); ++i)
        axes[i] = hostValue(expr.children[i], depth + 1);
    return axes;
}

std::optional<std::int64_t> LaunchValues::hostValue(ExprId id, int depth) const {
    if (const auto value = host_.constantValue(id))
        return value;
    const ExprId plain = host_.withoutCasts(id);
    if (plain == noId || depth > maxValueDepth)
        return std::nullopt;
    const Expr& expr = host_.body().expr(plain);
    if (expr.kind == ExprKind::Member && expr.children.size() == 1)
        if (const auto axis = axisOf(expr);
            axis && isDim3Type(host_.body().expr(expr.children[0]).type))
            return axesOf(expr.children[0], depth + 1)[*axis];
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        const Variable& variable = host_.body().variable(expr.variable);
        const bool isFixed = variable.storage == Storage::Local && variable.init != noId &&
                             variable.type.scalar < ScalarKind::Half &&
                             !host_.isEverWritten(expr.variable);
        return isFixed ? hostValue(variable.init, depth + 1) : std::nullopt;
    }
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return std::nullopt;
    const auto left = hostValue(expr.children[0], depth + 1);
    const auto right = hostValue(expr.children[1], depth + 1);
    return left && right ? integerResult(expr.op, *left, *right) : std::nullopt;
}

std::optional<std::int64_t> LaunchValues::of(ExprId kernelExpr) const {
    return kernelExpr == noId ? std::nullopt : kernelValue(kernelExpr, 0);
}

std::optional<std::int64_t> LaunchValues::kernelValue(ExprId id, int depth) const {
    if (depth > maxValueDepth)
        return std::nullopt;
    const CodeMap& code = shared_.code();
    const Expr& expr = code.body().expr(id);
    switch (expr.kind) {
    case ExprKind::Integer:
        return expr.integer;
    case ExprKind::Cast:
        return kernelValue(expr.children.front(), depth + 1);
    case ExprKind::BuiltinIndex:
        if (expr.name == "blockDim")
            return block_[expr.axis % 3];
        return expr.name == "gridDim" ? grid_[expr.axis % 3] : std::nullopt;
    case ExprKind::Variable:
        return expr.variable == noId ? templateArgument(expr.name)
                                     : variableValue(expr.variable, depth);
    case ExprKind::Binary: {
        if (expr.children.size() != 2)
            return std::nullopt;
        const auto left = kernelValue(expr.children[0], depth + 1);
        const auto right = kernelValue(expr.children[1], depth + 1);
        return left && right ? integerResult(expr.op, *left, *right) : std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

std::optional<std::int64_t> LaunchValues::variableValue(VariableId id, int depth) const {
    const CodeMap& code = shared_.code();
    const Variable& variable = code.body().variable(id);
    if (variable.constantValue)
        return variable.constantValue;
    if (variable.type.scalar >= ScalarKind::Half || code.isEverWritten(id))
        return std::nullopt;
    if (variable.storage == Storage::Parameter) {
        const auto& parameters = shared_.kernel().parameters;
        const auto at = std::ranges::find(parameters, id, &Parameter::variable);
        const auto index = static_cast<std::size_t>(at - parameters.begin());
        return index < launch_.arguments.size() ? hostValue(launch_.arguments[index], depth + 1)
                                                : std::nullopt;
    }
    if (variable.init != noId)
        return kernelValue(variable.init, depth + 1);
    return templateArgument(variable.name);
}

std::optional<std::int64_t> LaunchValues::templateArgument(const std::string& name) const {
    const auto& parameters = shared_.kernel().templateParameters;
    const auto at = std::ranges::find(parameters, name, &TemplateParameter::name);
    const auto index = static_cast<std::size_t>(at - parameters.begin());
    if (at == parameters.end() || index >= launch_.templateArguments.size())
        return std::nullopt;
    const std::string& text = launch_.templateArguments[index];
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
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
