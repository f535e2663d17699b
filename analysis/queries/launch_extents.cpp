#include "analysis/queries/launch_extents.h"

namespace kernelskill::analysis {

namespace {

bool isDim3(const Expr& expr) {
    return expr.name == "dim3" || expr.type.spelling == "dim3" ||
           expr.type.canonical.contains("dim3");
}

} // namespace

std::optional<Extents> constantExtents(const CodeMap& host, ExprId expr) {
    expr = host.withoutCasts(expr);
    if (expr == noId)
        return std::nullopt;
    const Expr& at = host.body().expr(expr);
    if (at.kind == ExprKind::Variable && at.variable != noId && isDim3(at)) {
        const Variable& variable = host.body().variable(at.variable);
        if (variable.init == noId || host.isEverWritten(at.variable))
            return std::nullopt;
        return constantExtents(host, variable.init);
    }
    if (at.kind == ExprKind::InitList ||
        ((at.kind == ExprKind::Call || at.kind == ExprKind::Other) && isDim3(at))) {
        if (at.children.size() == 1 && isDim3(host.body().expr(host.withoutCasts(at.children[0]))))
            return constantExtents(host, at.children[0]);
        Extents extents{1, 1, 1};
        if (at.children.empty() || at.children.size() > extents.size())
            return std::nullopt;
        for (std::size_t i = 0; i < at.children.size(); ++i) {
            const auto value = host.constantValue(at.children[i]);
            if (!value || *value < 1)
                return std::nullopt;
            extents[i] = *value;
        }
        return extents;
    }
    if (const auto value = host.constantValue(expr); value && *value >= 1)
        return Extents{*value, 1, 1};
    return std::nullopt;
}

bool isDim3Name(const Expr& extents) {
    return (extents.kind == ExprKind::Variable || extents.kind == ExprKind::Member) &&
           extents.type.canonical.contains("dim3");
}

} // namespace kernelskill::analysis
