#include "skills/stream-overlap/round_values.h"

#include "analysis/queries/kernel_reach.h"

namespace kernelskill::skills {

using namespace analysis;

namespace {
constexpr int maxPlaceDepth = 16;
} // namespace

ExprId RoundValues::fixedValue(VariableId id) const {
    if (id == noId || code_.isEverWritten(id))
        return noId;
    const Variable& variable = body().variable(id);
    return variable.storage == Storage::Local && !variable.type.isReference ? variable.init : noId;
}

std::optional<std::int64_t> RoundValues::leaf(const Expr& expr, int /*depth*/) const {
    const bool isCounter = expr.kind == ExprKind::Variable && expr.variable == counter_;
    return isCounter ? std::optional(value_) : std::nullopt;
}

std::optional<PlaceInMemory> RoundValues::place(ExprId expr) const {
    return place(expr, 0);
}

std::optional<PlaceInMemory> RoundValues::place(ExprId id, int depth) const {
    if (id == noId || depth > maxPlaceDepth)
        return std::nullopt;
    const Expr& expr = body().expr(id);
    if (expr.kind == ExprKind::Cast)
        return place(expr.children.front(), depth + 1);
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        // Another name for a place in memory stands for that place.
        if (const auto other = place(fixedValue(expr.variable), depth + 1))
            return other;
        return PlaceInMemory{expr.variable, 0};
    }
    if (expr.kind == ExprKind::Binary && (expr.op == "+" || expr.op == "-")) {
        const bool isFirst = body().expr(expr.children[0]).type.pointerDepth > 0;
        if (!isFirst && expr.op == "-")
            return std::nullopt;
        return stepped(expr.children[isFirst ? 0 : 1], expr.op, expr.children[isFirst ? 1 : 0],
                       depth + 1);
    }
    if (expr.kind == ExprKind::Unary && expr.op == "&") {
        const Expr& element = body().expr(expr.children.front());
        if (element.kind == ExprKind::Subscript)
            return stepped(element.children[0], "+", element.children[1], depth + 1);
    }
    return std::nullopt;
}

std::optional<PlaceInMemory> RoundValues::stepped(ExprId pointer, std::string_view op, ExprId index,
                                                  int depth) const {
    const auto from = place(pointer, depth);
    const auto elements = value(index, depth);
    const auto offset = from && elements ? steppedBytes(from->offset, op, *elements,
                                                        body().expr(pointer).type.elementSize)
                                         : std::nullopt;
    return offset ? std::optional(PlaceInMemory{from->root, *offset}) : std::nullopt;
}

std::optional<LaunchNumbers> RoundValues::launch(const LaunchSite& site) const {
    const KnownExtents grid = extents(site.grid);
    const KnownExtents block = extents(site.block);
    LaunchNumbers numbers;
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
        if (!grid[axis] || !block[axis])
            return std::nullopt;
        numbers.grid.at(axis) = *grid[axis];
        numbers.block.at(axis) = *block[axis];
    }
    for (const ExprId argument : site.arguments)
        numbers.arguments.push_back(value(argument));
    return numbers;
}

} // namespace kernelskill::skills
