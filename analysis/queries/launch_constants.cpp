#include "analysis/queries/launch_constants.h"

#include "analysis/queries/code_map.h"

#include <algorithm>

namespace kernelskill::analysis {

std::vector<std::int64_t> constantDimensions(const FunctionBody& host, ExprId dimensions) {
    if (dimensions == noId)
        return {};
    const CodeMap code(host);
    const KnownExtents known = FixedValues(code).extents(dimensions);
    const Expr& expr = host.expr(dimensions);
    const bool isNumber = !isDim3(expr.type) && expr.kind != ExprKind::InitList;
    if (known == KnownExtents{} || (isNumber && known[0].value_or(0) < 1))
        return {};
    std::vector<std::int64_t> axes;
    for (const auto& extent : known)
        axes.push_back(std::max<std::int64_t>(extent.value_or(0), 0));
    return axes;
}

} // namespace kernelskill::analysis
