#include "skills/stream-overlap/round_values.h"

#include "analysis/model/integer_arithmetic.h"
#include "analysis/model/known_functions.h"
#include "analysis/queries/kernel_reach.h"
#include "analysis/queries/launch_intervals.h"

#include <algorithm>
#include <limits>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int maximumDepth = 16;

bool fits(const Type& type, std::int64_t value) {
    switch (type.scalar) {
    case ScalarKind::Int32:
        return value >= std::numeric_limits<std::int32_t>::min() &&
               value <= std::numeric_limits<std::int32_t>::max();
    case ScalarKind::UInt32:
        return value >= 0 && value <= std::numeric_limits<std::uint32_t>::max();
    case ScalarKind::Int64:
        return true;
    case ScalarKind::UInt64:
        return value >= 0;
    default:
        return false;
    }
}

bool isDim3(const Type& type) {
    return type.canonical.contains("dim3") || type.spelling.contains("dim3");
}

} // namespace

ExprId RoundValues::fixedValue(VariableId id) const {
    if (id == noId || code_.isEverWritten(id))
        return noId;
    const Variable& variable = code_.body().variable(id);
    return variable.storage == Storage::Local && !variable.type.isReference ? variable.init : noId;
}

std::optional<std::int64_t> RoundValues::number(ExprId expr) const {
    return number(expr, 0);
}

std::optional<std::int64_t> RoundValues::number(ExprId id, int depth) const {
    if (id == noId || depth > maximumDepth)
        return std::nullopt;
    const Expr& expr = code_.body().expr(id);
    if (expr.kind == ExprKind::Integer)
        return expr.integer;
    const auto value = result(expr, depth + 1);
    return value && fits(expr.type, *value) ? value : std::nullopt;
}

std::optional<std::int64_t> RoundValues::result(const Expr& expr, int depth) const {
    const auto child = [&](std::size_t i) { return number(expr.children.at(i), depth); };
    switch (expr.kind) {
    case ExprKind::Variable:
        if (expr.variable == counter_)
            return value_;
        if (expr.variable != noId && code_.body().variable(expr.variable).constantValue)
            return code_.body().variable(expr.variable).constantValue;
        return number(fixedValue(expr.variable), depth);
    case ExprKind::Cast:
        return child(0);
    case ExprKind::Unary: {
        const auto value = expr.op == "-" ? child(0) : std::nullopt;
        return value ? integerResult("-", 0, *value) : std::nullopt;
    }
    case ExprKind::Binary: {
        const auto left = expr.children.size() == 2 ? child(0) : std::nullopt;
        const auto right = left ? child(1) : std::nullopt;
        return right ? integerResult(expr.op, *left, *right) : std::nullopt;
    }
    case ExprKind::Call: {
        const std::string_view name = unqualified(expr.name);
        if (expr.isMethod || expr.children.size() != 2 || (name != "min" && name != "max"))
            return std::nullopt;
        const auto left = child(0);
        const auto right = child(1);
        if (!left || !right)
            return std::nullopt;
        return name == "min" ? std::min(*left, *right) : std::max(*left, *right);
    }
    default:
        return std::nullopt;
    }
}

std::optional<PlaceInMemory> RoundValues::place(ExprId expr) const {
    return place(expr, 0);
}

std::optional<PlaceInMemory> RoundValues::place(ExprId id, int depth) const {
    if (id == noId || depth > maximumDepth)
        return std::nullopt;
    const FunctionBody& body = code_.body();
    const Expr& expr = body.expr(id);
    if (expr.kind == ExprKind::Cast)
        return place(expr.children.front(), depth + 1);
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        // Another name for a place in memory means that place.
        if (const auto other = place(fixedValue(expr.variable), depth + 1))
            return other;
        return PlaceInMemory{expr.variable, 0};
    }
    if (expr.kind == ExprKind::Binary && (expr.op == "+" || expr.op == "-")) {
        const bool isFirst = body.expr(expr.children[0]).type.pointerDepth > 0;
        if (!isFirst && expr.op == "-")
            return std::nullopt;
        return stepped(expr.children[isFirst ? 0 : 1], expr.op, expr.children[isFirst ? 1 : 0],
                       depth + 1);
    }
    if (expr.kind == ExprKind::Unary && expr.op == "&") {
        const Expr& element = body.expr(expr.children.front());
        if (element.kind == ExprKind::Subscript)
            return stepped(element.children[0], "+", element.children[1], depth + 1);
    }
    return std::nullopt;
}

std::optional<PlaceInMemory> RoundValues::stepped(ExprId pointer, std::string_view op, ExprId index,
                                                  int depth) const {
    const auto from = place(pointer, depth);
    const auto elements = number(index, depth);
    const auto offset = from && elements ? steppedBytes(from->offset, op, *elements,
                                                        code_.body().expr(pointer).type.elementSize)
                                         : std::nullopt;
    return offset ? std::optional(PlaceInMemory{from->root, *offset}) : std::nullopt;
}

std::optional<std::array<std::int64_t, 3>> RoundValues::extents(ExprId id) const {
    const ExprId plain = code_.withoutCasts(id);
    if (plain == noId)
        return std::nullopt;
    const Expr& expr = code_.body().expr(plain);
    if (!isDim3(expr.type)) {
        const auto value = number(plain);
        return value ? std::optional(std::array<std::int64_t, 3>{*value, 1, 1}) : std::nullopt;
    }
    if (expr.kind == ExprKind::Variable) {
        const ExprId value = fixedValue(expr.variable);
        return value == noId ? std::nullopt : extents(value);
    }
    if (expr.children.empty() || expr.children.size() > 3 || expr.kind == ExprKind::Member)
        return std::nullopt;
    if (expr.children.size() == 1)
        return extents(expr.children.front());
    std::array<std::int64_t, 3> axes{1, 1, 1};
    for (std::size_t i = 0; i < expr.children.size(); ++i) {
        const auto value = number(expr.children[i]);
        if (!value)
            return std::nullopt;
        axes.at(i) = *value;
    }
    return axes;
}

std::optional<LaunchNumbers> RoundValues::launch(const LaunchSite& site) const {
    const auto grid = extents(site.grid);
    const auto block = extents(site.block);
    if (!grid || !block)
        return std::nullopt;
    LaunchNumbers numbers{*grid, *block, {}};
    for (const ExprId argument : site.arguments)
        numbers.arguments.push_back(number(argument));
    return numbers;
}

} // namespace kernelskill::skills
