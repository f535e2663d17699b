#include "analysis/queries/launch_extents.h"

namespace kernelskill::analysis {

std::optional<Extents> constantExtents(const CodeMap& host, ExprId expr) {
    const KnownExtents known = FixedValues(host).extents(expr);
    Extents extents{};
    for (std::size_t axis = 0; axis < known.size(); ++axis) {
        if (!known[axis] || *known[axis] < 1)
            return std::nullopt;
        extents[axis] = *known[axis];
    }
    return extents;
}

bool isDim3Name(const Expr& extents) {
    return (extents.kind == ExprKind::Variable || extents.kind == ExprKind::Member) &&
           isDim3(extents.type);
}

} // namespace kernelskill::analysis
