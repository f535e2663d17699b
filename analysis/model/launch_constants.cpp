#include "analysis/model/launch_constants.h"

#include "analysis/model/dependence.h"
#include "analysis/model/integer_values.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

/// The values that follow from constants and from locals that never change.
class Constants : public IntegerValues {
public:
    explicit Constants(const FunctionBody& host) : IntegerValues(host), dependence_(host) {}

private:
    [[nodiscard]] ExprId fixedValue(VariableId id) const override {
        const Variable& variable = body().variable(id);
        return variable.storage == Storage::Local && dependence_.changes(id) == 0 ? variable.init
                                                                                  : noId;
    }

    DependenceAnalysis dependence_;
};

} // namespace

std::vector<std::int64_t> constantDimensions(const FunctionBody& host, ExprId dimensions) {
    if (dimensions == noId)
        return {};
    const KnownExtents known = Constants(host).extents(dimensions);
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
