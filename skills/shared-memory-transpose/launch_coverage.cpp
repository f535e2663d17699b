#include "skills/shared-memory-transpose/launch_coverage.h"

#include "analysis/queries/launch_extents.h"
#include "analysis/queries/launch_values.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The expression, or the value of the variable that it names.
ExprId definition(const CodeMap& host, ExprId id) {
    constexpr int maxSteps = 8;
    for (int step = 0; step < maxSteps; ++step) {
        id = host.withoutCasts(id);
        const Expr& expr = host.body().expr(id);
        if (expr.kind != ExprKind::Variable || expr.variable == noId ||
            host.isEverWritten(expr.variable) || host.body().variable(expr.variable).init == noId)
            break;
        id = host.body().variable(expr.variable).init;
    }
    return id;
}

/// Adds the expressions that `id` is computed from.
void addParts(const CodeMap& host, ExprId id, std::vector<ExprId>& parts, int depth) {
    constexpr int maxDepth = 8;
    constexpr std::size_t maxParts = 256;
    for (const ExprId part : host.expressionsBelow(id)) {
        if (depth > maxDepth || parts.size() > maxParts)
            return;
        parts.push_back(part);
        if (const ExprId from = definition(host, part); from != part)
            addParts(host, from, parts, depth + 1);
    }
}

/// Whether the expression is one of `parts`, or a product of some.
bool isAmong(const CodeMap& host, ExprId id, const std::vector<ExprId>& parts) {
    const ExprId defined = definition(host, id);
    if (std::ranges::any_of(parts, [&](ExprId part) {
            return host.sameExpression(part, id) || host.sameExpression(part, defined);
        }))
        return true;
    const Expr& expr = host.body().expr(defined);
    return expr.kind == ExprKind::Binary && expr.op == "*" &&
           isAmong(host, expr.children[0], parts) && isAmong(host, expr.children[1], parts);
}

/// Whether the grid along the axes is the kernel's limit, or its quotient rounded up.
bool roundsUp(const SkillContext& context, const LaunchSite& launch,
              const std::vector<std::size_t>& axes, ExprId limit) {
    const KernelModel& kernel = context.kernel;
    const FunctionBody& body = kernel.body;
    const CodeMap& host = context.shared().host(launch.host);
    const ExprId grid = definition(host, launch.grid);
    const auto block = constantExtents(host, launch.block);
    std::vector<ExprId> parts;
    for (const std::size_t axis : axes) {
        const std::vector<ExprId>& extents = host.body().expr(grid).children;
        const bool isList = host.body().expr(grid).kind == ExprKind::InitList;
        if (isList && axis >= extents.size())
            continue;
        const ExprId blocks = isList ? definition(host, extents[axis]) : grid;
        addParts(host, blocks, parts, 0);
        const Expr& expr = host.body().expr(blocks);
        if (expr.kind != ExprKind::Binary || (expr.op != "/" && expr.op != ">>"))
            continue;
        const auto divisor = host.constantValue(expr.children[1]);
        const Expr& rounded = host.body().expr(definition(host, expr.children[0]));
        const bool isOfLargerBlock =
            axes.size() == 1 && divisor && block && expr.op == "/" && *divisor > (*block)[axis];
        if (rounded.kind != ExprKind::Binary || (rounded.op != "+" && rounded.op != "-") ||
            isOfLargerBlock)
            return false;
    }
    // The grid has to be computed from the same arguments as the kernel's limit.
    return std::ranges::all_of(context.code().expressionsBelow(limit), [&](ExprId id) {
        const VariableId variable = body.expr(id).variable;
        if (body.expr(id).kind != ExprKind::Variable || variable == noId ||
            body.variable(variable).storage != Storage::Parameter)
            return true;
        const auto at = std::ranges::find(kernel.parameters, variable, &Parameter::variable);
        const auto index = static_cast<std::size_t>(at - kernel.parameters.begin());
        return index < launch.arguments.size() && isAmong(host, launch.arguments[index], parts);
    });
}

} // namespace

bool coversPositions(const SkillContext& context, const std::vector<std::size_t>& axes,
                     ExprId limit, bool isLimitIncluded) {
    return std::ranges::all_of(context.kernel.launches, [&](const LaunchSite& launch) {
        if (launch.host >= context.file.hostFunctions.size())
            return false;
        const LaunchValues values(context.shared(), launch);
        std::optional<std::int64_t> positions = 1;
        for (const std::size_t axis : axes) {
            const auto blocks = values.grid()[axis];
            const auto threads = values.block()[axis];
            positions = positions && blocks && threads
                            ? std::optional(*positions * *blocks * *threads)
                            : std::nullopt;
        }
        if (const auto end = values.of(limit); positions && end)
            return *positions >= *end + (isLimitIncluded ? 1 : 0);
        return roundsUp(context, launch, axes, limit);
    });
}

} // namespace kernelskill::skills
